"""Events, plans and results of summaries as messages."""

from collections.abc import Callable, Mapping
from typing import Any

from precis.v1 import summarize_pb2 as pb

from pipeline.summarize.document import Document
from pipeline.summarize.events import (
    Accepted,
    BatchDone,
    Drafted,
    Event,
    Finished,
    GroupDone,
    LayersFound,
    Planned,
    Reflected,
    SummaryProgress,
    TopicsFound,
)
from pipeline.summarize.plan import SummaryPlan
from pipeline.summarize.result import IntermediateSummary, SummaryResult, SummaryView, SummaryWarning
from pipeline.summarize.storage.records import StoredSummary, SummaryEntry, SummaryPage
from pipeline.summarize.writer import RemovedDuplicate
from server.backends import ChosenWriter
from server.services.reply import Exceptions, reply


def most_calls(plan: SummaryPlan) -> int:
    """Counts the calls if the critic is never content."""
    return plan.calls(plan.max_iterations)


def most_cost(plan: SummaryPlan) -> float | None:
    """Bounds the cost of these calls."""
    return plan.cost(plan.max_iterations)


def most_repeats(plan: SummaryPlan) -> int:
    """Counts the calls if, besides, every text must be asked for again."""
    return plan.most_repeats(plan.max_iterations)


def span(one: BatchDone | GroupDone | IntermediateSummary) -> pb.DocumentSpan:
    """Gives the stretch of the document that a call was about."""
    return _to_span(one.chunk_indexes, one.pages)


def kept(duplicate: RemovedDuplicate) -> pb.DocumentSpan:
    """Gives where a sentence stayed."""
    return _to_span(duplicate.kept_chunks)


def dropped(duplicate: RemovedDuplicate) -> pb.DocumentSpan:
    """Gives where a sentence was dropped."""
    return _to_span(duplicate.dropped_chunks)


def _to_span(chunks: tuple[int, int], pages: tuple[int, int] = (0, 0)) -> pb.DocumentSpan:
    return pb.DocumentSpan(first_chunk=chunks[0], last_chunk=chunks[1], first_page=pages[0], last_page=pages[1])


_EXCEPTIONS: Exceptions = {
    "SummaryPlan.writer": None,  # of the server
    "SummaryPlan.writer_kind": None,
    "SummaryPlan.calls": SummaryPlan.calls,
    "SummaryPlan.most_calls": most_calls,
    "SummaryPlan.most_repeats": most_repeats,
    "SummaryPlan.max_cost": SummaryPlan.cost,
    "SummaryPlan.most_cost": most_cost,
    "SummaryPlan.rounds": SummaryPlan.rounds,
    "SummaryPlan.max_prompt_tokens": SummaryPlan.max_prompt_tokens,
    "SummaryPlan.max_completion_tokens": SummaryPlan.max_completion_tokens,
    "LlmUsage.identity": None,  # `writer` of the summary names it
    "BatchDone.span": span,
    "GroupDone.span": span,
    "IntermediateSummary.span": span,
    "RemovedDuplicate.kept": kept,
    "RemovedDuplicate.dropped": dropped,
    "Summary.cost": None,  # at the prices of the server
    "Summary.total_cost": None,
    "Summary.citations": "citation.cited",
    "Summary.citable_count": "citation.citable_count",
    "Summary.citation_counts": "citation.counts",
    "Summary.overview": "layers.overview",
    "Summary.sections": "layers.sections",
    "SummaryFailure.retry_delay": "retry_after_s",
    "GetSummaryResponse.summary": "result",
    "GetSummaryResponse.document": None,  # only where it is asked for
    "Document.text": None,  # chunks say the same
    "Document.total_chunks": None,
}
_to_plan = reply(SummaryPlan, pb.SummaryPlan, _EXCEPTIONS)
to_progress = reply(SummaryProgress, pb.SummaryProgress, _EXCEPTIONS)
to_summary = reply(SummaryResult, pb.Summary, _EXCEPTIONS)
_STEPS: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    Accepted: ("accepted", reply(Accepted, pb.SummaryAccepted)),
    BatchDone: ("batch", reply(BatchDone, pb.BatchDone, _EXCEPTIONS)),
    GroupDone: ("group", reply(GroupDone, pb.GroupDone, _EXCEPTIONS)),
    Drafted: ("draft", reply(Drafted, pb.SummaryDraft)),
    LayersFound: ("layers", reply(LayersFound, pb.LayersFound, _EXCEPTIONS)),
    Reflected: ("reflect", reply(Reflected, pb.SummaryReflected, _EXCEPTIONS)),
    TopicsFound: ("topics", reply(TopicsFound, pb.TopicsFound, _EXCEPTIONS)),
    SummaryWarning: ("warning", reply(SummaryWarning, pb.SummaryWarning)),
}
to_document = reply(Document, pb.Document, _EXCEPTIONS)
to_submitted = reply(StoredSummary, pb.SubmitSummaryResponse)
_to_entry = reply(SummaryEntry, pb.SummaryEntry, {"SummaryEntry.created": None, "SummaryEntry.updated": None})
_to_view = reply(SummaryView, pb.GetSummaryResponse, _EXCEPTIONS)


def to_page(page: SummaryPage) -> pb.ListSummariesResponse:
    """Gives a page of summaries."""
    response = pb.ListSummariesResponse(next_page_token=page.next_page_token)
    for one in page.summaries:
        entry = _to_entry(one)
        if one.created_at:
            entry.created.FromNanoseconds(int(one.created_at * 1e9))
        entry.updated.FromNanoseconds(int(one.updated_at * 1e9))
        response.summaries.append(entry)
    return response


def to_event(event: Event, chosen: ChosenWriter) -> pb.SummaryEvent:
    """Gives one event of a running summary."""
    match event:
        case Planned(plan, progress):
            made = pb.PlanMade(plan=to_plan(plan, chosen), progress=to_progress(progress))
            return pb.SummaryEvent(plan=made)
        case Finished(result):
            return pb.SummaryEvent(summary=_priced(to_summary(result), result, chosen))
        case _:
            name, to_message = _STEPS[type(event)]
            return pb.SummaryEvent(**{name: to_message(event)})


def to_view(view: SummaryView, chosen: ChosenWriter | None) -> pb.GetSummaryResponse:
    """Gives where a summary stands."""
    response = _to_view(view)
    _priced(response.summary, view.result, chosen)
    return response


def _priced(summary: pb.Summary, result: SummaryResult, chosen: ChosenWriter | None) -> pb.Summary:
    """Adds what a summary cost, where the writer's prices are known."""
    if chosen is not None:
        prices = chosen.writer.limits.prices
        if (cost := prices.cost_if_priced(result.usage)) is not None:
            summary.cost, summary.total_cost = cost, prices.cost(result.total_usage)
    return summary


def to_plan(plan: SummaryPlan, chosen: ChosenWriter) -> pb.SummaryPlan:
    """Gives the calls of a summary, and who makes them."""
    message = _to_plan(plan)
    message.writer, message.writer_kind = chosen.writer.identity, chosen.kind
    return message
