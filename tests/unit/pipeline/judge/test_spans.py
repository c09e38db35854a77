"""Spans of judgements, read back with the SDK: what hangs below what, what they count, and that they hold no text."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pipeline import tracing as spans
from pipeline.errors import InvalidInputError, ModelOutputError
from pipeline.judge.judge import Judge, JudgeCaches
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework, MetricName
from pipeline.protocols import Float32
from tests.exported_spans import exported_spans
from tests.fakes_pipeline import OverlapEntailment, fake_models
from tests.unit.pipeline.judge.judging import REQUEST, TWIN, Fakes, GatedEntailment
from tests.unit.pipeline.summarize.fake_chat import FakeChat

ROOT = "invoke_workflow judge"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    yield from exported_spans(spans, monkeypatch)


def named(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == name]


def value(span: ReadableSpan, name: str) -> object:
    return (span.attributes or {})[f"precis.{name}"]


def tree(exporter: InMemorySpanExporter) -> dict[str, list[str]]:
    """Gives the names of the spans below each name, sorted; "" is above the root."""
    found = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in found if span.context}
    below: dict[str, list[str]] = {}
    for span in found:
        below.setdefault(names[span.parent.span_id] if span.parent else "", []).append(span.name)
    return {above: sorted(children) for above, children in below.items()}


async def test_evidence_and_frameworks_hang_below_the_judgement(exporter: InMemorySpanExporter) -> None:
    judgement = await Fakes().judge()
    parts = ["judge evidence", "judge judge_lock", "judge twin_lock", "judge ultra"]
    assert tree(exporter) == {"": [ROOT], ROOT: parts}
    (root,), (evidence,) = named(exporter, ROOT), named(exporter, "judge evidence")
    assert value(evidence, "pair_count") == judgement.table.pair_count
    assert value(evidence, "claim_count") == len(judgement.table.claims)
    assert value(root, "request_hash") == judgement.request_hash
    assert value(root, "frameworks") == ("twin_lock", "judge_lock", "ultra")
    assert (value(root, "cached"), value(root, "model_calls")) == (False, 0)
    assert value(named(exporter, "judge twin_lock")[0], "mean_score") == judgement[TWIN].mean_score


async def test_what_the_language_model_is_asked_for_is_seen(exporter: InMemorySpanExporter) -> None:
    chat = FakeChat(json.dumps({"level": "B", "reason": "Most of it stands there.", "quotes": []}))
    judgement = await Fakes().judge(chat_model=chat)
    found = tree(exporter)
    assert found["judge evidence"] == ["judge claim questions", "judge coverage questions"]
    assert found["judge ultra"].count("judge grade") >= len(MetricName)
    grades = Counter(value(span, "metric") for span in named(exporter, "judge grade"))
    assert grades == {metric.value: 1 for metric in MetricName}
    assert {value(span, "level_source") for span in named(exporter, "judge grade")} == {"samples"}
    (root,) = named(exporter, ROOT)
    assert value(root, "model_calls") == judgement.language_model_usage.calls == len(chat.requests)
    assert value(root, "prompt_tokens") == judgement.language_model_usage.prompt_tokens
    assert value(named(exporter, "judge evidence")[0], "proposals_failed") is True


async def test_no_span_holds_a_word_of_a_text_or_an_answer(exporter: InMemorySpanExporter) -> None:
    word = "Zyxwv"
    request = JudgeRequest(
        f"{word} opened a bridge in 1932. It cost 9 pounds.",
        f"{word} opened a bridge for 8 pounds.",
        tuple(Framework),
    )
    chat = FakeChat(json.dumps({"level": "B", "reason": f"{word} did.", "quotes": [f"{word} opened"]}))
    judgement = await Fakes().judge(request, chat_model=chat)
    assert word in judgement.table.claims[0].passage.text
    assert [span.to_json() for span in exporter.get_finished_spans() if word in span.to_json()] == []
    assert len(exporter.get_finished_spans()) > 8


async def test_an_answer_from_the_cache_has_a_span_and_nothing_below(exporter: InMemorySpanExporter) -> None:
    fakes, judge = Fakes(), Judge(caches=JudgeCaches())
    await fakes.judge(judge=judge)
    exporter.clear()
    await fakes.judge(judge=judge)
    assert tree(exporter) == {"": [ROOT]}
    assert value(named(exporter, ROOT)[0], "cached") is True


async def test_a_failure_is_an_error_of_everything_above_it(exporter: InMemorySpanExporter) -> None:
    class Broken(OverlapEntailment):
        async def entail(self, pairs: object) -> Float32:
            raise ModelOutputError("the model returned NaN")

    with pytest.raises(ModelOutputError):
        await Fakes(Broken()).judge()
    failed = {span.name for span in exporter.get_finished_spans() if span.status.status_code is StatusCode.ERROR}
    assert failed == {ROOT, "judge evidence"}
    assert (named(exporter, ROOT)[0].attributes or {})["error.type"] == "ModelOutputError"


async def test_a_refusal_is_seen_without_the_text(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(InvalidInputError):
        await Fakes().judge(replace(REQUEST, source=" \ud800 Zyxwv"))
    (root,) = exporter.get_finished_spans()
    assert (root.attributes or {})["error.type"] == "InvalidInputError"
    assert "Zyxwv" not in root.to_json()


async def test_a_reader_who_leaves_ends_the_spans(exporter: InMemorySpanExporter) -> None:
    entailment = GatedEntailment()
    stream = Judge().stream(REQUEST, fake_models(entailment))
    reading = asyncio.create_task(anext(stream))
    await entailment.asked.wait()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await stream.aclose()
    ended = {span.name: (span.attributes or {}).get("error.type") for span in exporter.get_finished_spans()}
    assert ended == dict.fromkeys(("judge evidence", ROOT), "CancelledError")
