from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ModelOutputError
from pipeline.protocols import Float32
from pipeline.reading.terms import find_terms
from pipeline.summarize.document import SourceChunk, SummaryType
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.retention import Mentions, measure
from pipeline.summarize.writer import (
    CriticVerdict,
    CritiqueTask,
    Extraction,
    ExtractTask,
    MergeStage,
    MergeTask,
    TopicsTask,
    Writer,
)
from tests.fakes_pipeline import BagOfWordsEmbedder, OverlapEntailment, ScriptedEntailment, fake_models
from tests.unit.pipeline.summarize.extractive.manual import MANUAL, count_tokens, flat, sentences, statements


def writer(embedder: BagOfWordsEmbedder | None = None, **settings: float) -> ExtractiveWriter:
    return ExtractiveWriter(ExtractiveConfig.model_validate(settings), fake_models(embedder=embedder))


def extract_task(*texts: str, critique: str | None = None, batches: int = 1) -> ExtractTask:
    chunks = tuple(SourceChunk(index + 10, 1, text) for index, text in enumerate(texts))
    return ExtractTask(SummaryType.TECHNICAL, "manual", 0, batches, chunks, critique=critique)


def merge_task(*texts: str, target: int = 10_000, stage: MergeStage = MergeStage.FINAL, groups: int = 1) -> MergeTask:
    extractions = tuple(Extraction(text, (index * 7, index * 7 + 6), (1, 1)) for index, text in enumerate(texts))
    return MergeTask(SummaryType.TECHNICAL, "manual", stage, 1, 0, groups, extractions, target)


def long_manual(sections: int) -> str:
    return "\n".join(
        f"## {number}. Unit {number}\n\nUnit {number} holds {number * 3 + 1} litres of oil in a tank of grey steel. "
        f"The oil of unit {number} keeps its bearings smooth and its gears quiet. People like unit {number} a lot. "
        f"Unit {number} has a window on the left side that shows the level of the oil.\n"
        for number in range(1, sections + 1)
    )


def test_it_is_a_writer() -> None:
    made: Writer = writer()
    assert made.limits.output_tokens == 12_000
    assert made.count_tokens("Two words.") == 3


async def test_map_keeps_every_value_drops_chatter_and_takes_what_is_central_where_there_is_room() -> None:
    written = await writer(min_map_tokens=0, map_share=0.2).extract(extract_task(MANUAL))
    kept = measure(find_terms(MANUAL), [Mentions.of(written.text)])
    missing = [(entry.kind.value, entry.missing) for entry in kept.kinds if entry.share < 1]
    assert missing == [("number", ("4",)), ("entity", ("nordhaven pumps", "kiel"))]  # a heading, and names
    assert "friendly blue" not in written.text
    assert count_tokens(written.text) < count_tokens(MANUAL)
    assert (written.finish_reason, written.usage.calls) == ("stop", 1)
    assert written.usage.completion_tokens == count_tokens(written.text)
    written = await writer(min_map_tokens=0, map_share=0.9).extract(extract_task(MANUAL))
    assert "The state can also be seen in the display." in written.text


async def test_everything_written_stands_in_the_document_in_its_order() -> None:
    made = writer(min_map_tokens=0, map_share=0.3)
    text = (await made.extract(extract_task(MANUAL))).text
    positions = [flat(MANUAL).index(line) for line in sentences(text)]
    assert positions == sorted(positions)
    assert len(positions) == len(set(positions))


async def test_a_small_batch_is_kept_whole() -> None:
    written = await writer(min_map_tokens=1_000).extract(extract_task(MANUAL))
    assert statements(written.text) == statements((await writer().merge(merge_task(MANUAL))).text)
    assert "friendly blue" in written.text


async def test_a_repeated_sentence_is_written_once_and_remembered() -> None:
    sentence = "The oil keeps all the bearings smooth."
    written = await writer().extract(extract_task(sentence, "There is more to say here.", sentence))
    assert written.text.count(sentence) == 1
    (removed,) = written.duplicates
    assert (removed.text, removed.kept_chunks, removed.dropped_chunks) == (sentence, (10, 10), (12, 12))
    assert removed.is_exact


async def test_the_same_in_other_words_is_written_once_and_remembered() -> None:
    first, second = "The pump can move cold water out of basins.", "The pump can move cold water out of all basins."
    entailment = ScriptedEntailment(default=0.9)
    made = ExtractiveWriter(ExtractiveConfig(), fake_models(entailment))
    written = await made.merge(merge_task(first, second))
    assert written.text == first
    (removed,) = written.duplicates
    assert (removed.text, removed.kept_chunks, removed.dropped_chunks) == (second, (0, 6), (7, 13))
    assert not removed.is_exact


async def test_merge_joins_what_fits_without_loss() -> None:
    text = (
        await writer().merge(merge_task("# A\n\nThe pump is red.", "The valve is blue.\n\n# B\n\nOil is grey."))
    ).text
    assert text == "# A\n\nThe pump is red.\n\nThe valve is blue.\n\n# B\n\nOil is grey."


@pytest.mark.parametrize("target", [5, 40, 90, 200, 400])
async def test_merge_stays_within_its_target(target: int) -> None:
    texts = [long_manual(20).replace("Unit", name) for name in ("Tank", "Mill")]
    written = await writer().merge(merge_task(*texts, target=target))
    assert 0 < count_tokens(written.text) <= max(target, 25)
    assert all(sentence in flat("\n".join(texts)) for sentence in sentences(written.text))


async def test_every_section_is_still_there_after_a_merge_that_has_room_for_one_sentence_each() -> None:
    text = (await writer().merge(merge_task(long_manual(8), long_manual(16), target=330))).text
    assert sum(line.startswith("## ") for line in text.splitlines()) >= 10


async def test_compressing_always_makes_progress() -> None:
    text = long_manual(10)
    for target in (10_000, count_tokens(text) - 1):
        task = merge_task(text, target=target, stage=MergeStage.COMPRESS)
        assert count_tokens((await writer().merge(task)).text) < count_tokens(text)


async def test_a_heading_at_the_end_stays_open_until_the_document_ends() -> None:
    text = "# A\n\nThe pump is red.\n\n# B"
    assert (await writer().merge(merge_task(text, stage=MergeStage.INTERMEDIATE, groups=2))).text.endswith("# B")
    assert (await writer().merge(merge_task(text))).text == "# A\n\nThe pump is red."
    assert (await writer().extract(extract_task(text, batches=2))).text.endswith("# B")
    assert (await writer().extract(extract_task(text))).text == "# A\n\nThe pump is red."
    task = merge_task(long_manual(20) + "\n# The end", target=300, stage=MergeStage.INTERMEDIATE, groups=2)
    assert (await writer().merge(task)).text.endswith("\n# The end")
    assert "# The end" not in (await writer().merge(replace(task, stage=MergeStage.FINAL, group_count=1))).text


async def test_the_same_task_gives_the_same_text() -> None:
    texts = [(await writer(min_map_tokens=0).extract(extract_task(MANUAL, long_manual(9)))).text for _ in range(3)]
    assert texts[0] == texts[1] == texts[2]


async def test_work_grows_with_the_text_and_not_with_its_square() -> None:
    counts = []
    for sections in (20, 40):
        embedder, entailment = BagOfWordsEmbedder(), OverlapEntailment()
        made = ExtractiveWriter(ExtractiveConfig(), fake_models(entailment, embedder))
        await made.extract(extract_task(long_manual(sections)))
        counts.append(sum(map(len, embedder.calls)))
        assert max(map(len, embedder.calls)) <= 128
        assert sum(map(len, entailment.calls)) <= 16
    assert counts == [80, 160]


async def test_listings_are_not_embedded() -> None:
    embedder = BagOfWordsEmbedder()
    await writer(embedder).extract(extract_task("```\n$ pumpctl status\n```\n\nThe pump is on."))
    assert embedder.calls == [["The pump is on."]]


async def test_the_critic_passes_and_names_what_is_there_and_what_is_missing() -> None:
    retention = measure(find_terms(MANUAL), [Mentions.of("Valve V-17 opens at 5.5 bar.")])
    critique = await writer().critique(CritiqueTask(SummaryType.TECHNICAL, "manual", 1, "Valve V-17.", retention))
    assert critique.critic_verdict is CriticVerdict.PASS
    lines = critique.text.splitlines()
    assert lines[0] == "PASS: 14.3% of the document's values are in the summary."
    assert "- numbers kept: 1 of 9" in lines
    assert any(line.startswith("- part numbers missing, for example: p-200") for line in lines)
    assert not any(line.startswith("- entities missing") for line in lines)


async def test_topics_name_the_document_when_nothing_else_is_there() -> None:
    topics = await writer().topics(TopicsTask("Pump manual", "12 34."))
    assert topics.topics == ("Pump manual",)
    found = (await writer().topics(TopicsTask("Pump manual", MANUAL))).topics
    assert 5 <= len(found) <= 10
    assert len(set(found)) == len(found)


async def test_a_transcript_without_full_stops_is_still_summarized() -> None:
    lines = [
        f"and then the {word} pump was opened by somebody from the plant" for word in ("old", "new", "red", "blue")
    ]
    written = await writer(min_map_tokens=0, map_share=0.6).extract(extract_task("\n\n".join(lines)))
    assert 2 <= sum(line in written.text for line in lines) <= 3


async def test_sentences_of_scripts_without_spaces_stand_for_themselves() -> None:
    first, second = "水泵将冷却水从一个水池输送到另一个水池。", "操作人员每周必须清洗过滤器和管道。"
    written = await writer().extract(extract_task(first + second + first))
    assert written.text == f"{first} {second}"


@pytest.mark.parametrize(
    "text", ["-----", "|||", "é", "# ", "```", "a" * 5_000, "1. " * 400, ":\n\n" * 50, "(" * 3_000]
)
async def test_strange_texts_give_some_text(text: str) -> None:
    assert (await writer(min_map_tokens=0).extract(extract_task(text))).text
    assert (await writer().merge(merge_task(text, text, target=20))).text


@given(st.text(alphabet=st.sampled_from("ab 1.:#-`|\n*²é。\t"), min_size=1, max_size=150).filter(str.strip))
async def test_any_text_gives_a_text_of_its_own_words(text: str) -> None:
    written = await writer(min_map_tokens=0).extract(extract_task(text))
    assert written.text
    assert all(word in text for line in statements(written.text) for word in line.split())


async def test_vectors_of_the_wrong_shape_are_an_error() -> None:
    class BrokenEmbedder(BagOfWordsEmbedder):
        async def embed(self, texts: list[str]) -> Float32:  # type: ignore[override]
            return np.full((len(texts), 4), np.nan, dtype=np.float32)

    with pytest.raises(ModelOutputError, match="not finite"):
        await writer(BrokenEmbedder()).extract(extract_task(MANUAL))


def test_the_identity_changes_with_whatever_changes_the_text() -> None:
    class OtherEmbedder(BagOfWordsEmbedder):
        identity = replace(BagOfWordsEmbedder.identity, revision="2")

    assert writer().identity == writer().identity
    assert len({writer().identity, writer(map_share=0.5).identity, writer(OtherEmbedder()).identity}) == 3


def test_an_answer_that_cannot_hold_its_share_of_a_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="expected output_tokens of at least"):
        ExtractiveConfig(prompt_budget_tokens=8_000, output_tokens=1_000)
