"""Events and results become messages without losing anything."""

import dataclasses

import pytest
from precis.v1 import summarize_pb2 as pb

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.config import PriceConfig
from pipeline.reading.values import TermKind
from pipeline.summarize.citations.places import Citations, CitationSupport, SourcePlace, SummaryCitation
from pipeline.summarize.events import (
    Accepted,
    BatchDone,
    Event,
    Finished,
    GroupDone,
    LayersFound,
    Phase,
    Reflected,
    SummaryProgress,
    TopicsFound,
)
from pipeline.summarize.result import (
    IntermediateSummary,
    StageRetention,
    SummaryFailure,
    SummaryLayers,
    SummaryResult,
    SummarySection,
    SummaryView,
    SummaryWarning,
    TrustReport,
)
from pipeline.summarize.retention import Retention, TermRetention
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.steering.wishes import LengthUnit, SummaryLength
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import CriticVerdict, RemovedDuplicate
from server.backends import ChosenWriter
from server.services.summarize import to_event, to_progress, to_summary, to_view
from tests.fakes_summarize import WIDE, ScriptedWriter

PRICES = PriceConfig(prompt_per_million=2, completion_per_million=4)
CHOSEN = ChosenWriter(ScriptedWriter(dataclasses.replace(WIDE, prices=PRICES)), pb.WRITER_KIND_LANGUAGE_MODEL)
USAGE = LlmUsage(3, 500, 60)
PROGRESS = SummaryProgress(Phase.REDUCE, 2, 40, 50, 4, USAGE, 1.5, 2.25, 7)
RETENTION = Retention((TermRetention(4, 3, ("7 Nm",), kind=TermKind.NUMBER), TermRetention(kind=TermKind.UNIT)))
CITATION = SummaryCitation(0, 5, CitationSupport.MARKED, 0.25, (SourcePlace(4, 2, 10, 20, 410),), 1)
SECTIONS = (SummarySection("1 Pumps", "They run."),)
RESULT = SummaryResult(
    summary_id="a1",
    document_id="d1",
    document_name="Manual",
    status=SummaryStatus.FAILED,
    text="Text.",
    topics=("pumps", "valves"),
    writer="scripted",
    iteration=1,
    iterations=2,
    critic_verdict=CriticVerdict.FAIL,
    critique="FAIL: no.",
    warnings=(SummaryWarning("few_topics", "Two."),),
    failure=SummaryFailure("EndpointBusyError", "Later.", 2.5),
    calls_done=40,
    calls_planned=50,
    calls_reused=4,
    usage=USAGE,
    elapsed_s=1.5,
    input_tokens=9_000,
    output_tokens=800,
    stages=(StageRetention("reduce", 2, RETENTION),),
    retention=RETENTION,
    duplicates=(RemovedDuplicate("Twice.", (0, 6), (7, 13), is_exact=False),),
    duplicate_count=12,
    trust=TrustReport(10, 9, 8, 7, 6, 5, 4, 3, 2, 1),
    citation=Citations((CITATION,), 3),
    total_usage=USAGE + USAGE,
    total_elapsed_s=3.5,
    run_count=2,
    current_batch=7,
    batch_count=9,
    budget=SummaryBudget(10, 20, 0.5),
    json='{"bars": 2}',
    intermediate_summaries=(IntermediateSummary(1, 2, (7, 13), (2, 3), "Merged."),),
    length=SummaryLength(LengthUnit.WORDS, 100, 96, is_met=True),
    layers=SummaryLayers("All in short.", SECTIONS),
)
BATCH = BatchDone(
    batch_index=3,
    batch_count=9,
    chunk_indexes=(21, 27),
    pages=(4, 5),
    usage=USAGE,
    is_reused=True,
    retention=RETENTION,
    result_key="key",
    progress=PROGRESS,
    text="Extracted.",
)
GROUP = GroupDone(
    level=2,
    group_index=1,
    group_count=3,
    merged_count=4,
    chunk_indexes=(0, 27),
    pages=(1, 5),
    usage=USAGE,
    is_reused=True,
    result_key="key",
    progress=PROGRESS,
    text="Merged.",
)
REFLECTED = Reflected(2, CriticVerdict.UNPARSEABLE, "Hm.", RETENTION, begins_again=True, progress=PROGRESS)
EVENTS: dict[str, Event] = {
    "accepted": Accepted("a1", is_resumed=True),
    "batch": BATCH,
    "group": GROUP,
    "layers": LayersFound("All in short.", SECTIONS, PROGRESS),
    "reflect": REFLECTED,
    "topics": TopicsFound(("pumps",), PROGRESS),
    "warning": SummaryWarning("twisted", "Two.", "batch 3, pages 4 to 5", "not safe"),
    "summary": Finished(RESULT),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_has_its_message_with_all_fields(kind: str) -> None:
    message = to_event(EVENTS[kind], CHOSEN)
    assert message.WhichOneof("event") == kind
    event = getattr(message, kind)
    assert [field.name for field in event.DESCRIPTOR.fields if field not in dict(event.ListFields())] == []


def test_a_result_keeps_its_values() -> None:
    summary = to_summary(RESULT)
    assert summary.status == pb.SUMMARY_STATUS_FAILED
    assert summary.failure.retry_delay.ToTimedelta().total_seconds() == 2.5
    assert [(kind.kind, kind.kept_count, list(kind.missing)) for kind in summary.retention.kinds] == [
        ("number", 3, ["7 Nm"]),
        ("unit", 0, []),
    ]
    assert (summary.duplicates[0].kept.last_chunk, summary.duplicates[0].dropped.first_chunk) == (6, 7)
    assert (summary.stages[0].stage, summary.stages[0].level) == ("reduce", 2)


def test_what_is_not_known_is_not_set() -> None:
    summary = to_summary(dataclasses.replace(RESULT, failure=None, retention=None, critic_verdict=None))
    assert not summary.HasField("failure")
    assert not summary.HasField("retention")
    assert summary.critic_verdict == pb.CRITIC_VERDICT_UNSPECIFIED
    assert not to_progress(dataclasses.replace(PROGRESS, eta_s=None)).HasField("eta")


def test_a_cost_is_told_where_prices_are_known() -> None:
    view = SummaryView("a1", SummaryStatus.RUNNING, is_running=True, result=RESULT)
    for chosen in (None, ChosenWriter(ScriptedWriter(), pb.WRITER_KIND_LANGUAGE_MODEL)):
        assert not to_view(view, chosen).summary.HasField("cost")
    assert to_view(view, CHOSEN).is_running
    summary = to_view(view, CHOSEN).summary
    assert (summary.cost, summary.total_cost) == pytest.approx(((500 * 2 + 60 * 4) / 1e6, 2 * (500 * 2 + 60 * 4) / 1e6))
