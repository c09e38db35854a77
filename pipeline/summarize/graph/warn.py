"""Tells the reader, and remembers, what went less than well."""

from langgraph.runtime import Runtime

from pipeline.summarize.events import Warned
from pipeline.summarize.graph.run import Run
from pipeline.summarize.result import WarningCode
from pipeline.summarize.writer import Written


async def warn(runtime: Runtime[Run], code: WarningCode, message: str) -> None:
    """Stores a warning and sends it."""
    await runtime.context.store.warn(runtime.context.summary_id, code, message)
    runtime.stream_writer(Warned(code, message))


async def warn_if_cut(runtime: Runtime[Run], written: Written, where: str) -> None:
    """Warns of an answer that was still cut after all continuations."""
    if written.finish_reason == "length":
        await warn(runtime, WarningCode.ANSWER_CUT, f"the answer for {where} was cut: more output_tokens would help")
