"""Summarize requests become domain types, or an error with the field's path."""

import dataclasses

import pytest
from precis.v1 import summarize_pb2 as pb

from pipeline.errors import InvalidInputError
from pipeline.llm.config import PriceConfig
from pipeline.llm.token_count import estimate_tokens
from pipeline.summarize.config import SummarizeLimits
from pipeline.summarize.document import SummarizeOptions, SummaryType
from pipeline.summarize.steering.budget import SummaryBudget
from server.services.summarize import parse_budget, parse_document, parse_options, parse_summary_id
from tests.fakes_summarize import WIDE

RULES = SummarizeLimits(max_chunks=4, max_document_chars=1_000), 16


def chunks_of(document: pb.Document) -> list[tuple[int, int, str]]:
    parsed = parse_document(document, *RULES)
    return [(chunk.chunk_index, chunk.page_number, chunk.text) for chunk in parsed.chunks]


def test_subtitles_that_come_as_text_are_read_as_speech() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,500\nThe board met.\n"
    (chunk,) = parse_document(pb.Document(document_id="a", text=text), *RULES).chunks
    assert chunk.text == "[00:00:01] The board met."
    with pytest.raises(InvalidInputError, match="subtitles without words"):
        parse_document(pb.Document(document_id="a", text="WEBVTT\n\n00:00:01.000 --> 00:00:02.500\n"), *RULES)


def test_the_place_in_the_list_is_the_index_unless_one_is_given() -> None:
    plain = [pb.DocumentChunk(text="a", page_number=1), pb.DocumentChunk(text="b", page_number=2)]
    assert chunks_of(pb.Document(chunks=plain)) == [(0, 1, "a"), (1, 2, "b")]
    given = [pb.DocumentChunk(text="a", chunk_index=5), pb.DocumentChunk(text="b", chunk_index=0)]
    assert chunks_of(pb.Document(chunks=given)) == [(0, 0, "b"), (5, 0, "a")]


def test_a_text_is_cut_where_sentences_end_and_loses_nothing() -> None:
    text = "One two three four five. Six seven eight nine. Ten eleven twelve."
    chunks = chunks_of(pb.Document(text=text))
    assert "".join(part for _, _, part in chunks) == text
    assert len(chunks) > 1
    assert {page for _, page, _ in chunks} == {0}
    assert all(estimate_tokens(part) <= 16 and part.rstrip().endswith(".") for _, _, part in chunks)


def test_a_form_feed_begins_a_page_and_empty_pages_count() -> None:
    assert chunks_of(pb.Document(text="First.\f\fThird.")) == [(0, 1, "First.\f\f"), (1, 3, "Third.")]


def test_joined_the_chunks_of_a_text_are_the_text() -> None:
    text = "\n \f One.\n\n" + "Two is longer. " * 3 + "\f\n\n\fThree.\n\f"
    assert "".join(body for *_, body in chunks_of(pb.Document(text=text))) == text


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (pb.Document(text="x" * 1_001), "document.text"),
        (pb.Document(chunks=[pb.DocumentChunk(text="x")] * 5), "document.chunks"),
        (pb.Document(chunks=[pb.DocumentChunk(text="x" * 1_001)]), "document.chunks"),
        (pb.Document(text="x", total_pages=-1), "document.total_pages"),
        (pb.Document(chunks=[pb.DocumentChunk(text="x")], total_chunks=2), "document.total_chunks"),
        (pb.Document(chunks=[pb.DocumentChunk(text="x")], total_chunks=-1), "document.total_chunks"),
        (pb.Document(text="x", total_chunks=1), "document.total_chunks"),
        (pb.Document(text="x", document_id="i" * 501), "document.document_id"),
    ],
)
def test_a_bad_document_names_the_field(document: pb.Document, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_document(document, *RULES)
    assert caught.value.field == field


def test_options_that_are_not_set_are_left_to_the_server() -> None:
    assert parse_options(pb.SummarizeOptions()) == SummarizeOptions()
    assert parse_options(pb.SummarizeOptions(wave_all=False)) == SummarizeOptions()


def test_all_options_arrive() -> None:
    options = pb.SummarizeOptions(
        summary_type=pb.SUMMARY_TYPE_OPERATOR, batch_size=3, reduce_group_size=5, max_iterations=1, wave_batches=2
    )
    assert parse_options(options) == SummarizeOptions(
        summary_type=SummaryType.OPERATOR, batch_size=3, reduce_group_size=5, max_iterations=1, wave=2
    )
    assert parse_options(pb.SummarizeOptions(wave_all=True)).wave == "all"


@pytest.mark.parametrize("summary_id", ["", "x" * 101])
def test_what_is_no_id_is_refused(summary_id: str) -> None:
    with pytest.raises(InvalidInputError, match="summary_id"):
        parse_summary_id(summary_id)


def test_a_budget_is_bounds_that_can_be_counted() -> None:
    known = dataclasses.replace(WIDE, prices=PriceConfig(prompt_per_million=1))
    assert parse_budget(pb.SummarizeRequest(), WIDE) is None
    lifted = pb.ResumeSummaryRequest(budget=pb.SummaryBudget())
    assert parse_budget(lifted, WIDE) == SummaryBudget()
    bounds = pb.SummaryBudget(max_calls=3, max_tokens=4, max_cost=0.5)
    assert parse_budget(pb.SummarizeRequest(budget=bounds), known) == SummaryBudget(3, 4, 0.5)
    chooser = dataclasses.replace(WIDE, chooses=True)  # costs nothing in any currency
    assert parse_budget(pb.SummarizeRequest(budget=bounds), chooser) == SummaryBudget(3, 4, 0.5)


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_calls", -1), ("max_tokens", -1), ("max_cost", -0.5), ("max_cost", float("nan")), ("max_cost", 0.5)],
)
def test_a_budget_that_cannot_be_counted_is_refused(field: str, value: float) -> None:
    budget = pb.SummaryBudget()
    setattr(budget, field, value)
    with pytest.raises(InvalidInputError) as caught:
        parse_budget(pb.SummarizeRequest(budget=budget), WIDE)
    assert caught.value.field == f"budget.{field}"
