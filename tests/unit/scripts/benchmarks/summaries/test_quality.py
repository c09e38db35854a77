"""What the quality of summaries and of their citations is measured with, by hand."""

import pytest

from pipeline.summarize.citations.places import CitationSupport, SourcePlace, SummaryCitation
from scripts.benchmarks.summaries.cited_sentences import is_right, sample, tell
from scripts.benchmarks.summaries.lexrank import lexrank, within
from scripts.benchmarks.summaries.rouge import rouge
from scripts.benchmarks.summaries.subjects import Manual

ENTRY = """\
# Memory

work_mem (integer)

 Sets the memory of a sort. The default is 4 megabytes. A sort needs more of it than work_mem.

# Disk

The disk is slow. It spins at 7200 rpm.
"""


def test_rouge_by_hand() -> None:
    score = rouge(["The cats sat."], [["the cat ran off"], ["a dog"]])
    assert score == pytest.approx((4 / 7, 2 / 5, 4 / 7))
    assert rouge(["A b c."], [["a b c"]]) == (1, 1, 1)
    assert rouge(["one two", "four five"], [["one two three four five"]]).longest == pytest.approx(8 / 9)
    assert rouge(["one one one"], [["one two"]]).longest == pytest.approx(2 / 5)


def test_lexrank_puts_first_what_most_sentences_are_like() -> None:
    sentences = ["Pumps move water.", "Pumps move water daily.", "Pumps move cold water.", "My aunt bakes pies."]
    assert lexrank(sentences)[0] == 0
    assert within(sentences, [2, 0], 5) == ["Pumps", "Pumps move cold water."]


def test_a_sentence_dangles_without_its_antecedent_or_the_name_of_its_entry() -> None:
    manual = Manual.read(ENTRY)
    texts = [excerpt.text for excerpt in manual.excerpts]
    default, spins = texts.index("The default is 4 megabytes."), texts.index("It spins at 7200 rpm.")
    assert manual.dangling([default, spins]) == [texts[default], texts[spins]]
    assert manual.values([default, spins]) == set()
    whole = [texts.index("work_mem (integer)"), default, spins - 1, spins]
    assert manual.dangling(whole) == []
    assert {"4 megabytes", "7200 rpm"} <= {term.text for term in manual.values(whole)}


DOCUMENT = "\n\n".join(
    f"The pump with number {number} runs at {number} bar and is primed by hand in hall {number}." for number in range(9)
)


def cited(spans: list[tuple[int, int]], support: CitationSupport) -> list[SummaryCitation]:
    places = tuple(SourcePlace(0, 0, start, end, start) for start, end in spans)
    return [SummaryCitation(0, 1, support, None, places)]


def test_a_sentence_is_right_where_it_comes_from_and_nowhere_else() -> None:
    spans = sample(DOCUMENT, 9)
    told = list(tell(DOCUMENT, spans))
    assert [len(one.spans) for one in told[:4]] == [1, 1, 1, 2]
    for one in told:
        support = CitationSupport.UNREAD if one.is_written else CitationSupport.VERBATIM
        assert is_right(one, cited(list(one.spans), support), DOCUMENT)
        others = [span for span in spans if span not in one.spans][: len(one.spans)]
        assert not is_right(one, cited(others, support), DOCUMENT)
        assert not is_right(one, [], DOCUMENT)
    assert not is_right(told[3], cited([told[3].spans[0]], CitationSupport.UNREAD), DOCUMENT)
    assert not is_right(told[1], cited([(0, len(DOCUMENT))], CitationSupport.UNREAD), DOCUMENT)
