"""Twelve kinds of lies and failures, each in one of five batches: repaired or named, never delivered."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.prompts.prompts import built_in
from pipeline.protocols import Float32
from pipeline.reading.words import fold
from pipeline.summarize.document import SourceChunk, SummarizeOptions, SummaryType, make_document
from pipeline.summarize.errors import StorageError
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.storage.records import Stage, SummaryStatus
from pipeline.summarize.writer import ExtractTask, TopicsTask
from pipeline.support.claim_support import SupportConfig
from tests.fakes_pipeline import ScriptedEntailment, fake_models
from tests.scripted_endpoint.author import Lie, changed_sentences, tell, write
from tests.unit.pipeline.summarize.documents import LIMITS, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.fake_chat import FakeChat

MANUAL = (Path(__file__).resolve().parents[5] / "scripts" / "data" / "manual" / "pump-skid.md").read_text("utf-8")
PARAGRAPHS = [paragraph for paragraph in MANUAL.split("\n\n") if paragraph.strip()]
DOCUMENT = make_document(
    "manual",
    "Pump manual",
    [SourceChunk(index, index + 1, "\n\n".join(PARAGRAPHS[8 * index : 8 * index + 8])) for index in range(13)],
    limits=LIMITS,
)
OPTIONS = SummarizeOptions(batch_size=3, wave=1)
MADE_FALSE = (Lie.INVENTED_VALUES, Lie.WRONG_UNITS, Lie.SWAPPED_NAMES, Lie.NEGATION)


def writer_that(lie: Lie | None, most_tokens: int = 4_000, **settings: object) -> tuple[GatedWriter, FakeChat]:
    """A language model that tells one kind of lie, behind a gate whose model believes nothing that is not verbatim."""
    chat = FakeChat(answer_to=lambda request: write(request.messages[-1].content, request.max_tokens, lie))
    fallback = ExtractiveWriter(ExtractiveConfig(), fake_models())
    gate = TrustGate(TrustConfig.model_validate(settings), ScriptedEntailment(), fallback)
    return GatedWriter(LlmWriter(chat, LlmWriterConfig(extraction_tokens=most_tokens)), gate), chat


async def summarize(place: Path, writer: GatedWriter) -> SummaryResult:
    async with summarizer_in(place) as summarizer:
        return result_of(await read_all(summarizer.stream(DOCUMENT, writer=writer, options=OPTIONS)))


async def test_topics_that_a_model_copies_from_the_prompt_are_left_out() -> None:
    examples = built_in()["topics"].sections["system"].split('"')[1::2]
    chat = FakeChat(json.dumps({"topics": ["Check valve", *examples]}))
    writer = GatedWriter(LlmWriter(chat, LlmWriterConfig()), TrustGate(TrustConfig()))
    found = await writer.topics(TopicsTask("manual", MANUAL, min_topics=1))
    assert (found.topics, found.left_out) == (("Check valve",), tuple(examples))


async def test_an_honest_model_is_asked_as_planned_and_nothing_is_found(tmp_path: Path) -> None:
    writer, chat = writer_that(None)
    result = await summarize(tmp_path, writer)
    assert len(chat.requests) == result.calls_done == result.calls_planned == result.usage.calls
    assert result.warnings == ()
    assert result.trust is not None
    assert result.trust.part_count == result.trust.verbatim_count > 300
    assert result.trust.removed_count == result.trust.dropped_count == result.trust.flaw_count == 0


@pytest.mark.parametrize("lie", Lie)
async def test_a_lie_is_repaired_or_named_and_not_delivered(tmp_path: Path, lie: Lie) -> None:
    writer, chat = writer_that(lie)
    result = await summarize(tmp_path, writer)
    assert result.status is SummaryStatus.DONE
    told = fold(result.text)
    batch = "\n\n".join(chunk.text for chunk in DOCUMENT.chunks[3:6])  # the second of five
    false = changed_sentences(lie, batch) if lie in MADE_FALSE else [tell(lie, batch, [])[:60]]
    assert false
    if lie not in (Lie.DEGENERATE, Lie.TRUNCATION, Lie.ECHO, Lie.INJECTED_ORDERS):  # they begin as an honest text does
        assert [sentence for sentence in false if fold(sentence)[1:] in told] == []
    assert "rate this summary" not in told
    assert "approved for every use" not in told
    trust = result.trust
    assert trust is not None
    repaired = trust.removed_count + trust.dropped_count + trust.corrected_count + trust.rewritten_count
    assert repaired + trust.flaw_count > 0
    assert len(chat.requests) <= result.calls_planned == result.calls_done


@pytest.mark.parametrize("lie", [Lie.REFUSAL, Lie.DEGENERATE, Lie.OTHER_LANGUAGE, Lie.ECHO])
async def test_what_stays_unusable_is_chosen_from_the_batch_and_says_so(tmp_path: Path, lie: Lie) -> None:
    writer, chat = writer_that(lie)
    result = await summarize(tmp_path, writer)
    assert result.trust is not None
    assert result.trust.rewritten_count == 1
    assert [warning.place for warning in result.warnings] == ["pages 4 to 6"]
    plan_calls = 5 + 1 + 1  # batches, critic, topics
    assert len(chat.requests) == result.calls_done == plan_calls + 1  # asked once more, and counted


async def test_values_that_an_answer_loses_are_added_in_the_documents_own_words(tmp_path: Path) -> None:
    writer, chat = writer_that(Lie.TRUNCATION)
    result = await summarize(tmp_path, writer)
    assert [stage.retention.values.missing for stage in result.stages if stage.stage is Stage.MAP] == [()]
    assert len(chat.requests) == result.calls_planned == 7
    assert "This summary is flawed" not in result.text


async def test_the_list_has_the_flaws_of_a_summary_and_of_an_equal_one(tmp_path: Path) -> None:
    writer, _ = writer_that(Lie.REFUSAL, 900, rewrites=False)  # room for a part of the batch
    async with summarizer_in(tmp_path) as summarizer:
        for _ in range(2):  # the second is answered by the result of the first
            result = result_of(await read_all(summarizer.stream(DOCUMENT, writer=writer, options=OPTIONS)))
            assert result.flaw_count == 1
        listed = (await summarizer.page(10, "")).summaries
        assert [one.flaw_count for one in listed] == [1, 1]
        lease = await summarizer.store.leases.acquire(listed[0].summary_id, 60.0)  # as a run that begins
        assert [one.flaw_count for one in (await summarizer.page(10, "")).summaries] == [None, 1]
        await summarizer.store.leases.release(lease, SummaryStatus.CANCELLED, None)


async def test_a_second_run_repeats_neither_calls_nor_checks(tmp_path: Path) -> None:
    writer, chat = writer_that(Lie.NEGATION)
    first = await summarize(tmp_path, writer)
    asked = len(chat.requests)
    other, other_chat = writer_that(Lie.NEGATION)
    again = await summarize(tmp_path, other)
    assert (again.text, again.warnings) == (first.text, first.warnings)
    assert (len(chat.requests), other_chat.requests) == (asked, [])


class BrokenOnce(ScriptedEntailment):
    """Fails the first time it is asked."""

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        if not self.calls:
            self.calls.append([])
            raise StorageError("the models are gone")
        return await super().entail(pairs)


@pytest.mark.parametrize(("least", "is_kept"), [(0.3, True), (0.99, False)])
async def test_the_thresholds_of_the_settings_decide_what_is_unsupported(*, least: float, is_kept: bool) -> None:
    gate = TrustGate(TrustConfig(), ScriptedEntailment(default=0.9), support=SupportConfig(partly_supported=least))
    task = ExtractTask(SummaryType.TECHNICAL, "M", 0, 1, (SourceChunk(0, 1, "The valve opens at 6 bar. It closes."),))
    case = await gate.read(task, room=1.0, caller="")
    checked = await gate.check(await gate.inspect("At 6 bar, the valve is open.", case), case)
    assert (FaultKind.UNSUPPORTED not in [one.kind for one in checked.trust.findings]) == is_kept


async def test_an_answer_whose_check_did_not_end_is_not_asked_for_again(tmp_path: Path) -> None:
    writer, chat = writer_that(Lie.NEGATION)
    fragile = GatedWriter(writer.inner, TrustGate(TrustConfig(), BrokenOnce(), writer.trust_gate.fallback))
    async with summarizer_in(tmp_path) as summarizer:
        events = summarizer.stream(DOCUMENT, writer=fragile, options=OPTIONS, idempotency_key="job")
        with pytest.raises(StorageError):
            await read_all(events)
        result = result_of(
            await read_all(summarizer.stream(DOCUMENT, writer=fragile, options=OPTIONS, idempotency_key="job"))
        )
    assert result.status is SummaryStatus.DONE
    prompts = [request.messages[-1].content for request in chat.requests]
    assert len(prompts) == len(set(prompts)) == result.calls_done


async def test_an_open_gate_lets_lies_pass(tmp_path: Path) -> None:
    writer, _ = writer_that(Lie.INVENTED_VALUES)
    async with summarizer_in(tmp_path) as summarizer:
        events = summarizer.stream(DOCUMENT, writer=writer.inner, options=OPTIONS)
        result = result_of(await read_all(events))
    assert "XQ-9981" in result.text
    assert result.trust is None
