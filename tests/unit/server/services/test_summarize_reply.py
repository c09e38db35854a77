"""Events and results become messages without losing anything."""

import dataclasses

import pytest
from precis.v1 import summarize_pb2 as pb

from pipeline.llm.config import PriceConfig
from pipeline.summarize import events
from pipeline.summarize.result import SummaryResult, SummaryView, SummaryWarning
from pipeline.summarize.storage.records import SummaryStatus
from server.backends import ChosenWriter
from server.services.summarize import to_event, to_progress, to_summary, to_view
from tests.fakes_summarize import WIDE, ScriptedWriter
from tests.unit.server.filled import filled

PRICES = PriceConfig(prompt_per_million=2, completion_per_million=4)
CHOSEN = ChosenWriter(ScriptedWriter(dataclasses.replace(WIDE, prices=PRICES)), pb.WRITER_KIND_LANGUAGE_MODEL)
RESULT = filled(SummaryResult)
EVENTS: dict[str, events.Event] = {
    "accepted": filled(events.Accepted),
    "batch": filled(events.BatchDone),
    "group": filled(events.GroupDone),
    "layers": filled(events.LayersFound),
    "reflect": filled(events.Reflected),
    "topics": filled(events.TopicsFound),
    "warning": filled(SummaryWarning),
    "summary": events.Finished(RESULT),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_has_its_message_with_all_fields(kind: str) -> None:
    message = to_event(EVENTS[kind], CHOSEN)
    assert message.WhichOneof("event") == kind
    event = getattr(message, kind)
    assert [field.name for field in event.DESCRIPTOR.fields if field not in dict(event.ListFields())] == []


def test_a_result_keeps_its_values() -> None:
    summary, retention, twice = to_summary(RESULT), RESULT.retention, RESULT.duplicates[0]
    assert pb.SummaryStatus.Name(summary.status).endswith(RESULT.status.name)
    assert RESULT.failure is not None
    assert summary.failure.retry_delay.ToTimedelta().total_seconds() == RESULT.failure.retry_after_s
    assert retention is not None
    for sent, kind in zip(summary.retention.kinds, retention.kinds, strict=True):
        assert (sent.kind, sent.kept_count, tuple(sent.missing)) == (kind.kind.value, kind.kept_count, kind.missing)
    spans = (summary.duplicates[0].kept.last_chunk, summary.duplicates[0].dropped.first_chunk)
    assert spans == (twice.kept_chunks[1], twice.dropped_chunks[0])
    assert (summary.stages[0].stage, summary.stages[0].level) == (RESULT.stages[0].stage, RESULT.stages[0].level)


def test_what_is_not_known_is_not_set() -> None:
    summary = to_summary(dataclasses.replace(RESULT, failure=None, retention=None, critic_verdict=None))
    assert not summary.HasField("failure")
    assert not summary.HasField("retention")
    assert summary.critic_verdict == pb.CRITIC_VERDICT_UNSPECIFIED
    assert not to_progress(dataclasses.replace(filled(events.SummaryProgress), eta_s=None)).HasField("eta")


def test_a_cost_is_told_where_prices_are_known() -> None:
    view = SummaryView("a1", SummaryStatus.RUNNING, is_running=True, result=RESULT)
    for chosen in (None, ChosenWriter(ScriptedWriter(), pb.WRITER_KIND_LANGUAGE_MODEL)):
        assert not to_view(view, chosen).summary.HasField("cost")
    assert to_view(view, CHOSEN).is_running
    summary = to_view(view, CHOSEN).summary
    costs = [
        (usage.prompt_tokens * 2 + usage.completion_tokens * 4) / 1e6 for usage in (RESULT.usage, RESULT.total_usage)
    ]
    assert [summary.cost, summary.total_cost] == pytest.approx(costs)
