"""Summaries in this process, written by an endpoint that the command line names.

No port is opened and no server is asked: one that called whatever address its callers name, with whatever key, could
be sent anywhere inside its network. Nor does the key of another endpoint ever go to the one that is named here.
"""

import asyncio
import logging
import shlex
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager

from precis.errors import error_of
from precis.rich_status import RichStatus
from precis.v1 import summarize_pb2 as pb

from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import LlmError
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.errors import StorageError
from pipeline.summarize.gate.gate import TrustGate
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.summarizer import open_summarizer
from server.backends import ChosenWriter
from server.cli.connection import to_cli_error
from server.cli.errors import CliError, InputError, TryLaterError
from server.cli.options import Connection, EndpointOptions
from server.cli.progress import is_live
from server.cli.summarize.run import SummaryCalls
from server.errors import INTERNAL, StartupError, rule_for
from server.observe import tracing
from server.services.summarize import SummarizeServicer
from server.services.summarize_request import DocumentRules
from server.services.summary_writer import behind_gate, fit_concurrency
from server.settings import Settings, load_settings

Response = pb.SummarizeResponse | pb.ResumeSummaryResponse


@asynccontextmanager
async def local_summaries(endpoint: EndpointOptions, timeout_s: float | None) -> AsyncIterator[SummaryCalls]:
    """Opens the endpoint and the stored summaries for one command. Raises CliError."""
    logging.getLogger().addHandler(logging.NullHandler())  # the view says what matters
    async with AsyncExitStack() as stack:
        with _start_errors():
            settings = _settings(endpoint)
            stack.enter_context(tracing.configured(settings.tracing))
            servicer = await _open_servicer(stack, settings)

        async def plan(request: pb.PlanSummaryRequest) -> pb.SummaryPlan:
            with _service_errors():
                return (await servicer.PlanSummary(request)).plan

        async def get(request: pb.GetSummaryRequest) -> pb.GetSummaryResponse:
            with _service_errors():
                return await servicer.GetSummary(request)

        def resume(summary_id: str, budget: pb.SummaryBudget | None) -> AsyncIterator[pb.SummaryEvent]:
            request = pb.ResumeSummaryRequest(summary_id=summary_id, budget=budget, include_draft=is_live())
            return _events(servicer.ResumeSummary(request), timeout_s)

        key = f" --api-key-file {shlex.quote(str(endpoint.key_file))}" if endpoint.key_file else ""
        yield SummaryCalls(
            flags=f" --endpoint {shlex.quote(endpoint.url)} --model {shlex.quote(endpoint.model)}{key}",
            summarize=lambda request: _events(servicer.Summarize(request), timeout_s),
            resume=resume,
            plan=plan,
            get=get,
        )


async def _events(responses: AsyncGenerator[Response, None], timeout_s: float | None) -> AsyncIterator[pb.SummaryEvent]:
    with _service_errors():
        async with asyncio.timeout(timeout_s), aclosing(responses) as open_responses:
            async for response in open_responses:
                yield response.event


async def _open_servicer(stack: AsyncExitStack, settings: Settings) -> SummarizeServicer:
    llm = settings.llm
    assert llm is not None, "_settings names one"  # noqa: S101 - our own bug if not
    cpu = stack.enter_context(ThreadPoolExecutor(settings.services.cpu_threads, "precis-summaries"))
    chat = OpenAiChatModel(await stack.enter_async_context(Endpoint(llm)))
    writer = LlmWriter(chat, fit_concurrency(settings.llm_writer, llm), prices=llm.prices)
    gate = TrustGate(settings.summary_trust, support=settings.judge.evidence, executor=cpu)  # no model is loaded here
    chosen = ChosenWriter(behind_gate(writer, gate), pb.WRITER_KIND_LANGUAGE_MODEL)
    opened = open_summarizer(settings.summarize, settings.summary_storage, support=settings.judge.evidence)
    summarizer = await stack.enter_async_context(opened)
    rules = DocumentRules(settings.summarize.limits, settings.services.chunk_tokens)
    return SummarizeServicer(summarizer, chosen, rules, cpu=cpu)


def _settings(endpoint: EndpointOptions) -> Settings:
    """Reads the settings as a server would, with another endpoint and none of their keys."""
    llm = {"base_url": endpoint.url, "model": endpoint.model, "api_key": None, "api_key_file": endpoint.key_file}
    return load_settings(overrides={"llm": llm})


@contextmanager
def _start_errors() -> Iterator[None]:
    try:
        yield
    except (StartupError, LlmError, StorageError) as error:
        raise InputError(str(error)) from error


@contextmanager
def _service_errors() -> Iterator[None]:
    """Turns what a server would send as a status into the same line and exit code."""
    try:
        yield
    except TimeoutError as error:
        raise TryLaterError("no summary in time: raise --timeout") from error
    except CliError:
        raise
    except Exception as error:
        rule = rule_for(error)
        if rule is INTERNAL:
            raise
        failure = error_of(RichStatus(rule.code, str(error), reason=rule.reason))
        raise to_cli_error(failure, Connection()) from error
