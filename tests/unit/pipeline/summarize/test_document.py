"""Bad documents are refused at the door."""

import pytest

from pipeline.errors import InvalidInputError
from pipeline.summarize.config import SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, make_document
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import full_plan

LIMITS = SummarizeLimits(max_chunks=100, max_document_chars=1_000, max_name_chars=20)


def document(*chunks: SourceChunk, name: str = "Manual", total_pages: int = 0) -> Document:
    return make_document("id", name, chunks, limits=LIMITS, total_pages=total_pages)


@pytest.mark.parametrize(
    ("chunks", "field"),
    [
        ([], "document.chunks"),
        ([SourceChunk(0, 1, " \n")], "document.chunks"),
        ([SourceChunk(0, -1, "a")], "document.chunks[0].page_number"),
        ([SourceChunk(-1, 1, "a")], "document.chunks[0].chunk_index"),
        ([SourceChunk(3, 1, "a"), SourceChunk(3, 1, "b")], "document.chunks[1].chunk_index"),
        ([SourceChunk(0, 1, "a" * 1_001)], "document.chunks"),
        ([SourceChunk(index, 1, "a") for index in range(101)], "document.chunks"),
    ],
)
def test_a_broken_rule_is_named(chunks: list[SourceChunk], field: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        document(*chunks)
    assert error.value.field == field


def test_a_long_name_and_fewer_pages_than_the_chunks_have_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"document\.name"):
        document(SourceChunk(0, 1, "a"), name="n" * 21)
    with pytest.raises(InvalidInputError, match=r"document\.total_pages"):
        document(SourceChunk(0, 9, "a"), total_pages=8)


def test_chunks_are_sorted_empty_ones_left_out_and_what_no_database_holds_replaced() -> None:
    made = document(SourceChunk(2, 2, "c"), SourceChunk(0, 1, "a"), SourceChunk(1, 1, ""))
    assert [chunk.text for chunk in made.chunks] == ["a", "c"]
    assert (made.total_pages, made.empty_chunk_count) == (2, 1)
    assert document(SourceChunk(0, 1, "a\0b\ud800c")).chunks[0].text == "a\ufffdb?c"


def test_equal_chunks_have_equal_hashes_and_moved_borders_do_not() -> None:
    one = document(SourceChunk(0, 1, "ab"), SourceChunk(1, 1, "c"))
    same = document(SourceChunk(1, 1, "c"), SourceChunk(0, 1, "ab"), name="Other")
    moved = document(SourceChunk(0, 1, "a"), SourceChunk(1, 1, "bc"))
    assert one.sha256 == same.sha256 != moved.sha256


def test_one_hundred_thousand_chunks_are_refused_and_fifty_thousand_planned() -> None:
    chunks = [SourceChunk(index, 0, "Some words of text.") for index in range(100_000)]
    with pytest.raises(InvalidInputError, match="at most 50000 chunks"):
        make_document("id", "", chunks, limits=SummarizeLimits())
    made = make_document("id", "", chunks[:50_000], limits=SummarizeLimits())
    plan = full_plan(made, ScriptedWriter())
    assert plan.map_calls == 7_143


def test_extractions_before_a_batch_are_what_most_of_the_reserve_is_for() -> None:
    made = make_document("id", "", [SourceChunk(0, 1, "Some words. " * 20_000)], limits=SummarizeLimits())
    at_once, in_turn = (full_plan(made, ScriptedWriter(), wave=wave) for wave in ("all", 1))
    assert max(batch.token_count for batch in in_turn.batches) <= 4_000
    assert at_once.map_calls < in_turn.map_calls
