"""Spans of summaries, read back with the SDK: what hangs below what, what they count, and that they hold no text."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pipeline.errors import PipelineError
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.graph import run
from pipeline.summarize.writer import CriticVerdict, CritiqueTask
from tests.exported_spans import exported_spans
from tests.fakes_summarize import ScriptedWriter, Task
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in, summary_of

Spans = dict[str, list[ReadableSpan]]


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    yield from exported_spans(run, monkeypatch)


def by_name(exporter: InMemorySpanExporter) -> Spans:
    found: Spans = {}
    for span in exporter.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    exporter.clear()
    return found


def value(span: ReadableSpan, name: str) -> object:
    return (span.attributes or {})[f"precis.{name}"]


async def test_every_node_is_a_span_below_its_run(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    result = await summary_of(tmp_path, numbered_document(29), ScriptedWriter())
    found = by_name(exporter)
    (run,) = found.pop("invoke_workflow summarize")
    counts = {"plan": 1, "extract": 5, "reduce": 3, "merge": 2, "reflect": 1, "topics": 1}
    assert {name: len(each) for name, each in found.items()} == counts
    assert run.context is not None
    assert all(span.parent and span.parent.span_id == run.context.span_id for each in found.values() for span in each)
    assert {span.context.trace_id for each in found.values() for span in each if span.context} == {run.context.trace_id}
    extracted = sorted(found["extract"], key=lambda span: span.start_time or 0)
    assert [value(span, "batch_index") for span in extracted] == [*range(5)]
    assert sum(int(str(value(span, "chunk_count"))) for span in found["extract"]) == 29
    assert value(run, "calls_done") == result.calls_done == 9
    assert value(run, "prompt_tokens") == result.usage.prompt_tokens
    assert result.retention is not None
    assert value(run, "retained_share") == value(found["reflect"][0], "retained_share") == result.retention.share
    assert (run.attributes or {})["session.id"] == result.summary_id


async def test_no_span_holds_a_word_of_the_document(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    word = "Zyxwv"
    document = numbered_document(8, name=f"{word} manual")
    async with summarizer_in(tmp_path) as summarizer:
        writer = ScriptedWriter()
        writer.prefix = f"{word} says: "
        assert word in result_of(await read_all(summarizer.stream(document, writer=writer))).text
    assert [span.to_json() for span in exporter.get_finished_spans() if word in span.to_json()] == []
    assert len(exporter.get_finished_spans()) > 5


async def test_a_resumed_run_reuses_the_calls_of_the_one_before(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    def fail(task: Task) -> None:
        if isinstance(task, CritiqueTask):
            raise PipelineError("the critic is ill")

    async with summarizer_in(tmp_path) as summarizer:
        failed = await read_all(summarizer.stream(numbered_document(29), writer=ScriptedWriter(before=fail)))
        first = by_name(exporter)
        resumed = summarizer.resume(result_of(failed).summary_id, writer=ScriptedWriter())
        await read_all(resumed)
        second = by_name(exporter)
    (before,), (after,) = first["invoke_workflow summarize"], second["invoke_workflow summarize"]
    assert (before.status.status_code, before.status.description) == (StatusCode.ERROR, "the critic is ill")
    assert (before.attributes or {})["error.type"] == "PipelineError"
    assert first["reflect"][0].status.status_code is StatusCode.ERROR
    assert after.context is not None
    assert before.context is not None
    assert after.context.trace_id != before.context.trace_id
    assert value(after, "status") == "done"
    assert value(after, "summary_id") == value(before, "summary_id")
    assert value(after, "calls_done") == 9
    assert "extract" not in second


async def test_a_repeated_iteration_is_seen_as_such(tmp_path: Path, exporter: InMemorySpanExporter) -> None:
    writer = ScriptedWriter(verdicts=(CriticVerdict.FAIL, CriticVerdict.PASS))
    async with summarizer_in(tmp_path) as summarizer:
        options = SummarizeOptions(max_iterations=2)
        await read_all(summarizer.stream(numbered_document(8), writer=writer, options=options))
    reflects = by_name(exporter)["reflect"]
    assert [(value(span, "critic_verdict"), value(span, "begins_again")) for span in reflects] == [
        ("fail", True),
        ("pass", False),
    ]
