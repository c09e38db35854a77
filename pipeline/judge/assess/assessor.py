"""Answers questions about the quality of a summary or an image, planning again while evidence is missing."""

import asyncio
import time
from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from contextlib import aclosing
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from pipeline.judge.assess.config import AssessConfig
from pipeline.judge.assess.events import AssessEvent, Assessment
from pipeline.judge.assess.graph import AssessState, build_graph
from pipeline.judge.assess.request import AssessRequest, CheckedAssessment, check_assessment
from pipeline.judge.assess.run import AssessRun, TextJudge
from pipeline.judge.assess.tools import available_tools
from pipeline.judge.synthesis.synthesizer import Synthesizer
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.metering import MeteredChatModel

_NODES = 3  # supersteps of one iteration


class Assessor:
    """Assesses. Holds no state between calls; one object serves any number of them at once.

    Args:
        synthesizer: writes the answers.
        config: how planner and executor work.
        executor: where images are measured, so that the event loop stays free; the caller owns it. None: in the loop's
            own thread, for scripts and tests.
    """

    def __init__(
        self, synthesizer: Synthesizer, config: AssessConfig | None = None, *, executor: Executor | None = None
    ) -> None:
        self._synthesizer = synthesizer
        self._config = config or AssessConfig()
        self._executor = executor
        self._graph = build_graph()

    async def stream(
        self, request: AssessRequest, *, judge: TextJudge | None = None, chat_model: ChatModel | None = None
    ) -> AsyncGenerator[AssessEvent, None]:
        """Sends plan, tools, evidence and answer of each iteration, and the assessment last. Leave early to stop.

        Args:
            request: the question, and what it is about.
            judge: of texts; needed when there is a summary.
            chat_model: plans, looks at images and answers; None: the deterministic forms.

        Raises:
            InvalidInputError: a part of the request breaks a rule.
            ModelOutputError: a model's answer is unusable.
        """
        started_s = time.monotonic()
        checked = await self._check(request)
        if checked.has_text and judge is None:
            raise ValueError("a summary is to be assessed, and there is no judge")
        run = AssessRun(
            checked=checked,
            tools=available_tools(checked),
            judge=judge,
            chat=MeteredChatModel(chat_model) if chat_model else None,
            synthesizer=self._synthesizer,
            config=self._config,
            executor=self._executor,
        )
        run.found.notes += checked.notes
        last: AssessState = {
            "iteration_count": 0,
            "max_replan_iterations": request.max_replan_iterations,
            "replan_history": (),
        }
        config: RunnableConfig = {
            "recursion_limit": _NODES * (request.max_replan_iterations + 1) + 2,
            "run_name": "assess",
        }
        steps = self._graph.astream(last, config, context=run, stream_mode=["custom", "values"])
        async with aclosing(cast("AsyncGenerator[tuple[str, Any], None]", steps)) as events:
            async for kind, event in events:
                if kind == "custom":
                    yield event
                else:
                    last = event
        yield _assessment(run, last, elapsed_s=time.monotonic() - started_s)

    async def _check(self, request: AssessRequest) -> CheckedAssessment:
        work = partial(check_assessment, request, self._synthesizer.limits)
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _assessment(run: AssessRun, state: AssessState, *, elapsed_s: float) -> Assessment:
    return Assessment(
        synthesis=state["synthesis"],
        iteration_count=state["iteration_count"],
        replan_history=state["replan_history"],
        evidence=state["evidence"],
        usage=run.usage,
        notes=tuple(run.found.notes),
        elapsed_s=elapsed_s,
    )
