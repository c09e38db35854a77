"""The graph: planner -> executor -> summarizer, and again while evidence is missing and the limit allows it."""

import os
from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from pipeline.judge.assess.events import EvidenceGathered, Planned, Synthesized
from pipeline.judge.assess.execute import execute
from pipeline.judge.assess.gather import gather
from pipeline.judge.assess.llm_planner import choose_plan
from pipeline.judge.assess.plan import AssessPlan
from pipeline.judge.assess.planner import first_plan, next_plan
from pipeline.judge.assess.run import AssessRun
from pipeline.judge.assess.spans import node_span
from pipeline.judge.synthesis.evidence import Evidence
from pipeline.judge.synthesis.request import SynthesisRequest
from pipeline.judge.synthesis.result import Synthesis
from pipeline.tracing import note

# LangGraph sends the state of every node to a hosted service when a server's environment happens to hold
# LANGSMITH_TRACING or LANGCHAIN_TRACING_V2. This name is looked up before those.
os.environ["LANGSMITH_TRACING_V2"] = "false"


class AssessState(TypedDict, total=False):
    """Where an assessment stands between two steps (seed 004).

    Attributes:
        plan: of this iteration.
        evidence: found so far.
        synthesis: the last answer; missing before the first.
        iteration_count: replannings so far.
        max_replan_iterations: most of them.
        replan_history: why, one entry for each.
    """

    plan: AssessPlan
    evidence: Evidence
    synthesis: Synthesis
    iteration_count: int
    max_replan_iterations: int
    replan_history: tuple[str, ...]


AssessGraph = CompiledStateGraph[AssessState, AssessRun, AssessState, AssessState]


def build_graph() -> AssessGraph:
    """Compiles the graph. One graph serves all assessments; nothing of them is kept."""
    builder = StateGraph(AssessState, context_schema=AssessRun)
    builder.add_node("planner", planner, destinations=("executor", END))
    builder.add_node("executor", executor)
    builder.add_node("summarizer", summarizer)
    builder.add_edge(START, "planner")
    builder.add_edge("executor", "summarizer")
    builder.add_conditional_edges("summarizer", decide_next_node, {"planner": "planner", END: END})
    return builder.compile(name="assess")


async def planner(state: AssessState, runtime: Runtime[AssessRun]) -> Command[str]:
    """Plans; ends the loop when another plan would find nothing new."""
    run, last = runtime.context, state.get("synthesis")
    with node_span("planner", 0 if last is None else state["plan"].iteration + 1) as span:
        plan = await _first(run) if last is None else _next(run, state["plan"], last)
        if plan is None:
            run.found.notes.append("nothing else can be tried: the evidence stays incomplete")
            return Command(goto=END)
        note(span, author=plan.author, mode=plan.mode.value, tool_count=len(plan.tools))
    runtime.stream_writer(Planned(plan))
    if last is None:
        return Command(update={"plan": plan}, goto="executor")
    history = (*state["replan_history"], last.output.replan_reason or plan.reason)
    update = {"plan": plan, "iteration_count": state["iteration_count"] + 1, "replan_history": history}
    return Command(update=update, goto="executor")


async def executor(state: AssessState, runtime: Runtime[AssessRun]) -> AssessState:
    """Runs the tools of the plan, and gathers what they found."""
    run, plan = runtime.context, state["plan"]
    with node_span("executor", plan.iteration) as span:
        async for done in execute(run, plan):
            runtime.stream_writer(done)
        evidence = gather(run, plan)
        note(span, item_count=len(evidence.items()))
    runtime.stream_writer(EvidenceGathered(plan.iteration, evidence))
    return {"evidence": evidence}


async def summarizer(state: AssessState, runtime: Runtime[AssessRun]) -> AssessState:
    """Answers from the evidence, and says whether it suffices."""
    run, plan = runtime.context, state["plan"]
    with node_span("summarizer", plan.iteration) as span:
        synthesis = await run.synthesizer.synthesize(_question(run, plan, state["evidence"]), chat_model=run.chat)
        output = synthesis.output
        note(span, author=synthesis.author, degraded=output.degraded, need_replan=output.need_replan)
    after: AssessState = {**state, "synthesis": synthesis}
    runtime.stream_writer(Synthesized(plan.iteration, synthesis, decide_next_node(after) == "planner"))
    return {"synthesis": synthesis}


def decide_next_node(state: AssessState) -> Literal["planner", "__end__"]:
    """Tells what follows an answer: another plan while it asks for one and the limit is not reached."""
    needs_more = state["synthesis"].output.need_replan
    return "planner" if needs_more and state["iteration_count"] < state["max_replan_iterations"] else "__end__"


async def _first(run: AssessRun) -> AssessPlan:
    plan = first_plan(run.checked.request, run.tools)
    if run.chat is not None:
        plan = await choose_plan(run, plan, run.chat)
    run.found.notes += plan.notes
    return plan


def _next(run: AssessRun, last: AssessPlan, synthesis: Synthesis) -> AssessPlan | None:
    """Returns a plan that closes the gaps; None when it would find the same again."""
    plan = next_plan(last, synthesis.replan_needs, run.tools)
    return None if plan.does_the_same(last) and not _can_look_again(run, plan) else plan


def _question(run: AssessRun, plan: AssessPlan, evidence: Evidence) -> SynthesisRequest:
    request = run.checked.request
    return SynthesisRequest(
        question=request.question,
        mode=plan.mode,
        evidence=evidence,
        scope=plan.scope,
        choices=request.choices,
        images=request.images,
        context=request.summary[: run.synthesizer.limits.max_context_chars],
        eta=request.eta,
        form=request.form,
    )


def _can_look_again(run: AssessRun, plan: AssessPlan) -> bool:
    """Tells whether a language model has images to look at, and parts left that it has said nothing of."""
    has_eyes = run.chat is not None and bool(run.checked.images)
    return has_eyes and any(not run.found.seen.get(part) for part in plan.scope)
