"""Answers questions about the quality of a summary or an image, planning again while evidence is missing.

The graph is planner -> executor -> summarizer. Each execution of a node has an OpenTelemetry span, above those of what
it does.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any, TypedDict, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from pipeline.assess.evidence import Evidence
from pipeline.assess.execute import execute, gather
from pipeline.assess.planner import choose_plan, first_plan, next_plan
from pipeline.assess.request import AssessRequest, AssessStage, CheckedQuestion, SynthesisRequest, check_assessment
from pipeline.assess.result import Synthesis
from pipeline.assess.run import (
    AssessEvent,
    Assessment,
    AssessModels,
    AssessPlan,
    AssessRun,
    EvidenceGathered,
    Synthesized,
    TextJudge,
    available_tools,
)
from pipeline.assess.synthesizer import Synthesizer
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.metering import MeteredChatModel
from pipeline.tracing import note, open_judge_span


class AssessState(TypedDict, total=False):
    """Where an assessment stands between two steps; the answer is missing before the first."""

    plan: AssessPlan
    evidence: Evidence
    synthesis: Synthesis


AssessGraph = CompiledStateGraph[AssessState, AssessRun, AssessState, AssessState]


def build_graph() -> AssessGraph:
    """Compiles the graph. One graph serves all assessments; nothing of them is kept."""
    builder = StateGraph(AssessState, context_schema=AssessRun)
    builder.add_node("planner", planner, destinations=("executor", END))
    builder.add_node("executor", executor, destinations=("summarizer", END))
    builder.add_node("summarizer", summarizer, destinations=("planner", END))
    builder.add_edge(START, "planner")
    return builder.compile(name="assess")


async def planner(state: AssessState, runtime: Runtime[AssessRun]) -> Command[str]:
    """Plans; ends the loop when another plan would find nothing new."""
    run, last = runtime.context, state.get("synthesis")
    iteration = 0 if last is None else state["plan"].iteration + 1
    with open_judge_span("assess planner", node="planner", iteration=iteration) as span:
        if last is None:
            plan: AssessPlan | None = await choose_plan(run, first_plan(run.checked.request, run.tools))
        else:
            plan = await _next(run, state["plan"], last)
        if plan is None:
            run.notes.append("nothing else can be tried: the evidence stays incomplete")
            return Command(goto=END)
        note(span, author=plan.author, mode=plan.mode.value, tool_count=len(plan.tools))
    runtime.stream_writer(plan)
    if last is not None:
        run.replan_history.append(last.replan_reason or plan.reason)
    is_last = run.checked.request.stage is AssessStage.PLAN
    return Command(update={"plan": plan}, goto=END if is_last else "executor")


async def executor(state: AssessState, runtime: Runtime[AssessRun]) -> Command[str]:
    """Runs the tools of the plan, and gathers what they found."""
    run, plan = runtime.context, state["plan"]
    with open_judge_span("assess executor", node="executor", iteration=plan.iteration) as span:
        async for done in execute(run, plan):
            runtime.stream_writer(done)
        evidence = gather(run, plan)
        note(span, item_count=len(evidence.items()))
    runtime.stream_writer(EvidenceGathered(plan.iteration, evidence))
    is_last = run.checked.request.stage is AssessStage.EVIDENCE
    return Command(update={"evidence": evidence}, goto=END if is_last else "summarizer")


async def summarizer(state: AssessState, runtime: Runtime[AssessRun]) -> Command[str]:
    """Answers from the evidence; another plan follows while it does not suffice and the limit is not reached."""
    run, plan, request = runtime.context, state["plan"], runtime.context.checked.request
    with open_judge_span("assess summarizer", node="summarizer", iteration=plan.iteration) as span:
        question = SynthesisRequest(
            question=request.question,
            mode=plan.mode,
            evidence=state["evidence"],
            scope=plan.scope,
            choices=request.choices,
            context=request.summary[: run.synthesizer.config.limits.max_context_chars],
            eta=request.eta,
            form=request.form,
        )
        checked = CheckedQuestion(question, run.checked.images)
        synthesis = await run.synthesizer.answer(checked, run.models.synthesizer if run.models else None)
        note(span, author=synthesis.author, degraded=synthesis.degraded, need_replan=synthesis.need_replan)
    begins_again = synthesis.need_replan and plan.iteration < request.max_replan_iterations
    runtime.stream_writer(Synthesized(plan.iteration, synthesis, begins_again))
    return Command(update={"synthesis": synthesis}, goto="planner" if begins_again else END)


async def _next(run: AssessRun, last: AssessPlan, synthesis: Synthesis) -> AssessPlan | None:
    """Returns a plan that closes the gaps; None when it would find the same again, and nobody can look again."""
    plan = next_plan(last, synthesis.replan_needs, run.tools)
    if run.has_eyes or len(last.tools) < len(run.tools):
        plan = await choose_plan(run, plan)
    return None if plan.does_the_same(last) and not run.has_eyes else plan


_NODES = 3  # supersteps of one iteration


class Assessor:
    """Assesses, with the settings and threads of a synthesizer. One object serves any number of calls at once."""

    def __init__(self, synthesizer: Synthesizer) -> None:
        self._synthesizer = synthesizer
        self._graph = build_graph()

    async def stream(
        self, request: AssessRequest, *, judge: TextJudge | None = None, models: AssessModels[ChatModel] | None = None
    ) -> AsyncGenerator[AssessEvent, None]:
        """Sends plan, tools, evidence and answer of each iteration, and the assessment last. Leave early to stop.

        A judge is needed when there is a summary, and more than its plan is wanted.

        Raises:
            InvalidInputError: a part of the request breaks a rule.
            ModelOutputError: a model's answer is unusable.
        """
        started_s = time.monotonic()
        synthesizer = self._synthesizer
        checked = await synthesizer.off_loop(partial(check_assessment, request, synthesizer.config.limits))
        run = AssessRun(
            checked=checked,
            tools=available_tools(checked),
            judge=judge,
            models=AssessModels(*map(MeteredChatModel, models)) if models else None,
            synthesizer=synthesizer,
            notes=[*checked.notes],
        )
        last: AssessState = {}
        most_steps = _NODES * (request.max_replan_iterations + 1) + 2
        config: RunnableConfig = {"recursion_limit": most_steps, "run_name": "assess"}
        steps = self._graph.astream(last, config, context=run, stream_mode=["custom", "values"])
        async with aclosing(cast("AsyncGenerator[tuple[str, Any], None]", steps)) as events:
            async for kind, event in events:
                if kind == "custom":
                    yield event
                else:
                    last = event
        yield Assessment(
            plan=last["plan"],
            synthesis=last.get("synthesis"),
            iteration_count=last["plan"].iteration,
            replan_history=tuple(run.replan_history),
            evidence=last.get("evidence"),
            usage=run.usage,
            notes=tuple(run.notes),
            elapsed_s=time.monotonic() - started_s,
        )
