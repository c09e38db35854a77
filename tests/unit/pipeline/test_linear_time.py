"""What reads the texts of clients takes time that grows with them, whatever they hold."""

import contextlib
from collections.abc import Callable, Collection, Sequence
from functools import partial

import pytest

from pipeline.reading.characters import normalize
from pipeline.reading.document import ReadText, read_shown
from pipeline.reading.framing import find_meta_commentary, framing_length
from pipeline.reading.index import WordIndex
from pipeline.reading.language import is_english
from pipeline.reading.names import find_names, known_names
from pipeline.reading.passages import PassageFinder, claim_weights
from pipeline.reading.sentences import split_sentences
from pipeline.reading.summary_text import NoStatementError, read_summary
from pipeline.reading.terms import find_terms
from pipeline.reading.values import Values, find_values
from pipeline.reading.word_table import WordTable
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.extractive.excerpt import read_excerpts
from pipeline.summarize.graph.batches import Background
from pipeline.summarize.plan import ChunkBatch
from tests.growth import grows_like_square

MAX_CHARS = 700
SHORT = 1_100  # more than a sentence has, and than what is remembered of texts that were read before
FRAMES = (("", ""), ("The gate о ", "」と end."))
UNITS = (
    *("#", "×", "。", "\n", "a'", "1,", "“a", "[a](", "--a", "Aa-", "</p a/> ", "1. A\n\n", "- a\n", "WARNING!\n\n"),
    *("Ann: hi\n", "From: A\nSent: B\n", "10:14\n", "[1.3.25, 10:14] Ann: hi\n", "😀", "e\u0301", '{"a": '),
    *("AI judge ", "Hello there. ", "# ", "- # ", "|", "!)", "1.1 A\n", "(AB) "),
    *("```\n", "here is a ", "this a-", "der das und 3. Mai ", "z. B. ", "A", "1"),
)


class _Source(WordIndex):
    def __init__(self, *, knows: bool) -> None:
        super().__init__(ReadText.of("source", "", MAX_CHARS))
        self._knows = knows

    def is_about(self, stems: Sequence[str], among: Collection[int] | None = None, least_share: float = 0.5) -> bool:
        del among, least_share
        return self._knows and bool(stems)

    def sentence_count(self, stem: str) -> int:
        return int(self._knows)


def _find_names(text: str) -> None:
    table = WordTable.of(text)
    find_names(table, range(len(table.words)), known_names(table))


def _find_meta_commentary(text: str) -> None:
    source = normalize("summary", text)
    find_meta_commentary(source, split_sentences(source.text, MAX_CHARS))


def _find_known_values(text: str) -> None:
    values = Values(text)
    for value in values.all[:20]:
        values.states(value)


def _find_passages(text: str) -> None:
    source = ReadText.of("source", text, MAX_CHARS)
    finder = PassageFinder(source, MAX_CHARS)
    for words in source.ranges[:20]:
        finder.passage(claim_weights(source.table, words, finder.index))


def _read_background(text: str) -> None:
    chunks = (SourceChunk(0, 0, text), SourceChunk(1, 0, "AB ABC"))
    Background([ChunkBatch((chunk,), 1) for chunk in chunks]).of(1, 50, len)


def _read_summary(text: str, *, knows: bool) -> None:
    with contextlib.suppress(NoStatementError):  # much of what is hostile states nothing
        read_summary("summary", text, MAX_CHARS, _Source(knows=knows))


READERS: dict[str, Callable[[str], object]] = {
    "source": lambda text: ReadText.of("source", text, MAX_CHARS),
    "summary": partial(_read_summary, knows=True),
    "unrelated summary": partial(_read_summary, knows=False),
    "passages": _find_passages,
    "what a batch is told": _read_background,
    "names": _find_names,
    "meta commentary": _find_meta_commentary,
    "lead-in": framing_length,
    "language": is_english,
    "excerpts": lambda text: read_excerpts([text], len),
    "terms": find_terms,
    "values": find_values,
    "known values": _find_known_values,
}


def _make(before: str, unit: str, behind: str, length: int) -> str:
    return before + unit * max(1, length // len(unit)) + behind  # nothing takes no time at all


@pytest.mark.parametrize("reader", READERS)
def test_hostile_text_is_read_in_linear_time(reader: str) -> None:
    READERS[reader]("It rained. Ann ﬁled 2 claims. \n\n- a")  # what is read once, such as tables of words
    frames = [(before, unit, behind) for unit in UNITS for before, behind in FRAMES]
    assert [frame for frame in frames if grows_like_square(READERS[reader], partial(_make, *frame), SHORT)] == []


@pytest.mark.parametrize("unit", ["It fell [7]. ", "the gate (2) ", "fell.¹ ", "a\u00ad ", "[a](/b) "])
def test_a_long_text_is_shown_in_linear_time(unit: str) -> None:
    # Copies of what stands before a mark are fast: in a short text they are lost beside all else.
    assert not grows_like_square(partial(read_shown, "source"), partial(_make, "", unit, ""), 20_000)
