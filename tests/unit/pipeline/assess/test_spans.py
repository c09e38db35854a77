"""Spans of assessments, read back with the SDK."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pipeline import tracing as spans
from pipeline.errors import ModelOutputError
from pipeline.judge.judgement import Judgement
from pipeline.judge.request import JudgeRequest
from tests.exported_spans import exported_spans
from tests.unit.pipeline.assess.assessments import TEXT, assess


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    yield from exported_spans(spans, monkeypatch)


async def test_every_node_of_every_iteration_is_a_span_without_texts(exporter: InMemorySpanExporter) -> None:
    await assess(replace(TEXT, scope=("ancient bridge",)))
    found = exporter.get_finished_spans()
    nodes = ["assess planner", "assess executor", "assess summarizer"]
    assert [span.name for span in found] == nodes * 2
    assert [(span.attributes or {})["precis.iteration"] for span in found] == [0, 0, 0, 1, 1, 1]
    assert "bridge" not in str([span.attributes for span in found])


async def test_a_failure_is_an_error_of_its_node(exporter: InMemorySpanExporter) -> None:
    async def broken(_: JudgeRequest) -> Judgement:
        raise ModelOutputError("the model returned NaN")

    with pytest.raises(ModelOutputError):
        await assess(TEXT, judge=broken)
    failed = exporter.get_finished_spans()[-1]
    assert failed.name == "assess executor"
    assert failed.status.status_code is StatusCode.ERROR
    assert (failed.attributes or {})["error.type"] == "ModelOutputError"
