"""What the quality of summaries is measured with, by hand."""

import pytest

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


def test_the_longest_common_parts_of_several_sentences_are_joined_and_no_word_counts_twice() -> None:
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


def test_a_summary_is_found_in_its_document_in_order() -> None:
    manual = Manual.read(ENTRY)
    found = manual.locate("# Disk\n\nIt spins at 7200 rpm.\n\nThis stands nowhere.")
    assert [manual.excerpts[position].text for position in found] == ["Disk", "It spins at 7200 rpm."]
