"""Events, plans and results of summaries as messages."""

from typing import assert_never

from precis.v1 import common_pb2
from precis.v1 import summarize_pb2 as pb

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.events import (
    Accepted,
    BatchDone,
    Event,
    Finished,
    GroupDone,
    Planned,
    Reflected,
    TopicsFound,
    Warned,
)
from pipeline.summarize.plan import Phase, SummaryPlan, SummaryProgress
from pipeline.summarize.result import SummaryFailure, SummaryResult, SummaryView
from pipeline.summarize.retention import Retention
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import CriticVerdict, RemovedDuplicate
from server.backends import ChosenWriter
from server.rpc.status import to_duration

PHASES = {
    Phase.PLAN: pb.SUMMARY_PHASE_PLAN,
    Phase.MAP: pb.SUMMARY_PHASE_MAP,
    Phase.REDUCE: pb.SUMMARY_PHASE_REDUCE,
    Phase.REFLECT: pb.SUMMARY_PHASE_REFLECT,
    Phase.TOPICS: pb.SUMMARY_PHASE_TOPICS,
    Phase.DONE: pb.SUMMARY_PHASE_DONE,
}
CRITIC_VERDICTS = {
    CriticVerdict.PASS: pb.CRITIC_VERDICT_PASS,
    CriticVerdict.FAIL: pb.CRITIC_VERDICT_FAIL,
    CriticVerdict.UNPARSEABLE: pb.CRITIC_VERDICT_UNPARSEABLE,
}
STATUSES = {
    SummaryStatus.RUNNING: pb.SUMMARY_STATUS_RUNNING,
    SummaryStatus.DONE: pb.SUMMARY_STATUS_DONE,
    SummaryStatus.FAILED: pb.SUMMARY_STATUS_FAILED,
    SummaryStatus.CANCELLED: pb.SUMMARY_STATUS_CANCELLED,
}


def to_event(event: Event, chosen: ChosenWriter) -> pb.SummaryEvent:
    """Gives one event of a running summary."""
    message = pb.SummaryEvent()
    match event:
        case Accepted(summary_id, is_resumed):
            message.accepted.CopyFrom(pb.SummaryAccepted(summary_id=summary_id, is_resumed=is_resumed))
        case Planned(plan, progress):
            message.plan.CopyFrom(pb.PlanMade(plan=to_plan(plan, chosen), progress=to_progress(progress)))
        case BatchDone():
            message.batch.CopyFrom(to_batch(event))
        case GroupDone():
            message.group.CopyFrom(to_group(event))
        case Reflected():
            message.reflect.CopyFrom(to_reflected(event))
        case TopicsFound(topics, progress):
            message.topics.CopyFrom(pb.TopicsFound(topics=topics, progress=to_progress(progress)))
        case Warned(code, text):
            message.warning.CopyFrom(pb.SummaryWarning(code=code, message=text))
        case Finished(result):
            message.summary.CopyFrom(to_summary(result))
        case _:
            assert_never(event)
    return message


def to_plan(plan: SummaryPlan, chosen: ChosenWriter) -> pb.SummaryPlan:
    """Gives the calls of a summary."""
    return pb.SummaryPlan(
        writer=chosen.writer.identity,
        writer_kind=chosen.kind,
        map_calls=plan.map_calls,
        level_calls=plan.level_calls,
        calls=plan.calls(),
        most_calls=plan.calls(plan.max_iterations),
        rounds=plan.rounds(),
        input_tokens=plan.input_tokens,
        max_prompt_tokens=plan.max_prompt_tokens(),
        max_completion_tokens=plan.max_completion_tokens(),
        wave=plan.wave,
        concurrency=plan.concurrency,
        is_exact=plan.is_exact,
    )


def to_progress(progress: SummaryProgress) -> pb.SummaryProgress:
    """Gives how far a summary is."""
    return pb.SummaryProgress(
        phase=PHASES[progress.phase],
        iteration=progress.iteration,
        calls_done=progress.calls_done,
        calls_total=progress.calls_total,
        calls_reused=progress.calls_reused,
        usage=to_usage(progress.usage),
        elapsed=to_duration(progress.elapsed_s),
        eta=None if progress.eta_s is None else to_duration(progress.eta_s),
        joined_events=progress.joined_events,
    )


def to_usage(usage: LlmUsage) -> common_pb2.LlmUsage:
    """Gives what calls cost."""
    return common_pb2.LlmUsage(
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        retries=usage.retries,
    )


def to_span(chunks: tuple[int, int], pages: tuple[int, int] = (0, 0)) -> pb.DocumentSpan:
    """Gives a stretch of the document."""
    return pb.DocumentSpan(first_chunk=chunks[0], last_chunk=chunks[1], first_page=pages[0], last_page=pages[1])


def to_batch(event: BatchDone) -> pb.BatchDone:
    """Gives a finished map call."""
    return pb.BatchDone(
        batch_index=event.batch_index,
        batch_count=event.batch_count,
        span=to_span(event.chunk_indexes, event.pages),
        usage=to_usage(event.usage),
        is_reused=event.is_reused,
        retention=to_retention(event.retention),
        text=event.text,
        progress=to_progress(event.progress),
    )


def to_group(event: GroupDone) -> pb.GroupDone:
    """Gives a finished reduce call."""
    return pb.GroupDone(
        level=event.level,
        group_index=event.group_index,
        group_count=event.group_count,
        merged_count=event.merged_count,
        span=to_span(event.chunk_indexes, event.pages),
        usage=to_usage(event.usage),
        is_reused=event.is_reused,
        progress=to_progress(event.progress),
    )


def to_reflected(event: Reflected) -> pb.SummaryReflected:
    """Gives a critic's answer."""
    return pb.SummaryReflected(
        iteration=event.iteration,
        critic_verdict=CRITIC_VERDICTS[event.critic_verdict],
        critique=event.critique,
        retention=to_retention(event.retention),
        begins_again=event.begins_again,
        progress=to_progress(event.progress),
    )


def to_retention(retention: Retention) -> pb.Retention:
    """Gives what survived."""
    return pb.Retention(
        share=retention.share,
        kinds=(
            pb.TermRetention(
                kind=entry.kind, input_count=entry.input_count, kept_count=entry.kept_count, missing=entry.missing
            )
            for entry in retention.kinds
        ),
    )


def to_summary(result: SummaryResult) -> pb.Summary:
    """Gives a summary, complete or as far as it came."""
    return pb.Summary(
        summary_id=result.summary_id,
        document_id=result.document_id,
        document_name=result.document_name,
        status=STATUSES[result.status],
        text=result.text,
        topics=result.topics,
        writer=result.writer,
        iteration=result.iteration,
        iterations=result.iterations,
        critic_verdict=CRITIC_VERDICTS[result.critic_verdict]
        if result.critic_verdict
        else pb.CRITIC_VERDICT_UNSPECIFIED,
        critique=result.critique,
        warnings=(pb.SummaryWarning(code=warning.code, message=warning.message) for warning in result.warnings),
        failure=to_failure(result.failure) if result.failure else None,
        calls_done=result.calls_done,
        calls_planned=result.calls_planned,
        calls_reused=result.calls_reused,
        usage=to_usage(result.usage),
        elapsed=to_duration(result.elapsed_s),
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        stages=(
            pb.StageRetention(stage=entry.stage, level=entry.level, retention=to_retention(entry.retention))
            for entry in result.stages
        ),
        retention=to_retention(result.retention) if result.retention else None,
        duplicates=map(to_duplicate, result.duplicates),
        duplicate_count=result.duplicate_count,
    )


def to_failure(failure: SummaryFailure) -> pb.SummaryFailure:
    """Gives why a summary is partial."""
    delay = None if failure.retry_after_s is None else to_duration(failure.retry_after_s)
    return pb.SummaryFailure(kind=failure.kind, message=failure.message, retry_delay=delay)


def to_duplicate(duplicate: RemovedDuplicate) -> pb.RemovedDuplicate:
    """Gives a sentence that stood twice."""
    return pb.RemovedDuplicate(
        text=duplicate.text,
        kept=to_span(duplicate.kept_chunks),
        dropped=to_span(duplicate.dropped_chunks),
        is_exact=duplicate.is_exact,
    )


def to_view(view: SummaryView) -> pb.GetSummaryResponse:
    """Gives where a summary stands."""
    return pb.GetSummaryResponse(summary=to_summary(view.result), is_running=view.is_running)
