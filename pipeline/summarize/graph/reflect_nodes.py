"""Reflect and topics: is the summary good enough, and what is it about?"""

from functools import partial

from langgraph.runtime import Runtime
from langgraph.types import Command

from pipeline.summarize.events import Reflected, TopicsFound
from pipeline.summarize.graph.filled_form import write_json
from pipeline.summarize.graph.notes import final_text, verdict_of, warn
from pipeline.summarize.graph.run import PlannedCall, Run, StepAnswer, SummaryState
from pipeline.summarize.graph.texts import TOPICS, VERDICT, VerdictOutcome
from pipeline.summarize.plan import Phase
from pipeline.summarize.result import WarningCode
from pipeline.summarize.retention import Mentions, measure
from pipeline.summarize.storage.records import Stage, StepId
from pipeline.summarize.tracing import node_span
from pipeline.summarize.writer import CriticVerdict, CritiqueTask, TopicList, TopicsTask
from pipeline.tracing import note


async def reflect(state: SummaryState, runtime: Runtime[Run]) -> Command[str]:
    """Asks the critic, keeps the best iteration so far, and decides whether to begin again."""
    run = runtime.context
    run.meter.phase = Phase.REFLECT
    iteration = state["iteration"]
    with node_span("reflect", run.job.summary_id, phase=Phase.REFLECT.value, iteration=iteration) as span:
        outcome, best, begins_again = await _reflect(runtime, iteration, state.get("best_iteration", 0))
        critic_verdict, share = outcome.verdict.critic_verdict.value, outcome.retention.share
        note(span, critic_verdict=critic_verdict, retained_share=share, best_iteration=best, begins_again=begins_again)
    return Command(update={"best_iteration": best}, goto="plan" if begins_again else "topics")


async def _reflect(runtime: Runtime[Run], iteration: int, best: int) -> tuple[VerdictOutcome, int, bool]:
    """Returns the verdict, the best iteration so far, and whether another one begins."""
    run = runtime.context
    outcome = await _judge(run, iteration)
    best = await _better(run, best, iteration)
    begins_again = await _begins_again(run, iteration, outcome.verdict.critic_verdict)
    runtime.stream_writer(
        Reflected(
            iteration=iteration,
            critic_verdict=outcome.verdict.critic_verdict,
            critique=outcome.verdict.text,
            retention=outcome.retention,
            begins_again=begins_again,
            progress=run.meter.progress(),
        )
    )
    if outcome.verdict.critic_verdict is CriticVerdict.UNPARSEABLE:
        await warn(runtime, WarningCode.CRITIC_NOT_UNDERSTOOD, f"no verdict on iteration {iteration}: counted as FAIL")
    if not begins_again and outcome.verdict.critic_verdict is not CriticVerdict.PASS:
        await warn(
            runtime,
            WarningCode.CRITIC_NOT_CONTENT,
            f"accepted iteration {best} of {iteration} without a PASS: check the critique and the retention",
        )
    return outcome, best, begins_again


async def topics(state: SummaryState, runtime: Runtime[Run]) -> None:
    """Asks for the key topics of the best summary."""
    run = runtime.context
    run.meter.phase = Phase.TOPICS
    best = state["best_iteration"]
    with node_span("topics", run.job.summary_id, phase=Phase.TOPICS.value, iteration=best) as span:
        answer = await _find_topics(run, best)
        note(span, topic_count=len(answer.outcome.topics), reused=answer.is_reused)
    if answer.outcome.left_out:
        message = f"{len(answer.outcome.left_out)} key topics that the summary does not mention were left out"
        await warn(runtime, WarningCode.TOPICS_LEFT_OUT, message)
    if len(answer.outcome.topics) < run.job.config.min_topics:
        message = f"{len(answer.outcome.topics)} key topics instead of {run.job.config.min_topics} or more"
        await warn(runtime, WarningCode.FEW_TOPICS, message)
    if run.plan.json_calls:
        await write_json(runtime, best)
    run.meter.phase = Phase.DONE
    runtime.stream_writer(TopicsFound(answer.outcome.topics, run.meter.progress()))


async def _find_topics(run: Run, best: int) -> StepAnswer[TopicList]:
    summary = await final_text(run, best)
    run.citing.begin(summary)  # beside the calls that are left
    task = TopicsTask(run.job.document.name, summary, run.job.config.min_topics, run.job.config.max_topics)
    ask = partial(run.job.writer.topics, task)
    return await run.answer(PlannedCall(StepId(best, Stage.TOPICS), task, ask, TOPICS))


async def _judge(run: Run, iteration: int) -> VerdictOutcome:
    summary = await final_text(run, iteration)
    retention = await run.job.off_loop(lambda: measure(run.terms.of_document(), [Mentions.of(summary)]))
    options = run.job.options
    task = CritiqueTask(
        options.summary_type,
        run.job.document.name,
        iteration,
        summary,
        retention,
        options.wishes,
        run.plan.target_tokens,
    )

    async def ask() -> VerdictOutcome:
        return VerdictOutcome(await run.job.writer.critique(task), retention)

    step = StepId(iteration, Stage.REFLECT)
    return (await run.answer(PlannedCall(step, task, ask, VERDICT))).outcome


async def _better(run: Run, best: int, iteration: int) -> int:
    """Returns the better of two iterations: a PASS wins, then what kept more terms, then the later one."""
    old = await verdict_of(run, best) if best else None
    new = await verdict_of(run, iteration)
    return best if old and new and _rank(old) > _rank(new) else iteration


def _rank(outcome: VerdictOutcome) -> tuple[bool, float]:
    return outcome.verdict.critic_verdict is CriticVerdict.PASS, outcome.retention.share


async def _begins_again(run: Run, iteration: int, critic_verdict: CriticVerdict) -> bool:
    """Decides on another iteration. An answer that is no verdict counts as FAIL, but only once."""
    if critic_verdict is CriticVerdict.PASS or iteration >= run.plan.max_iterations:
        return False
    if critic_verdict is CriticVerdict.FAIL:
        return True
    earlier = [await verdict_of(run, number) for number in range(1, iteration)]
    return not any(outcome and outcome.verdict.critic_verdict is CriticVerdict.UNPARSEABLE for outcome in earlier)
