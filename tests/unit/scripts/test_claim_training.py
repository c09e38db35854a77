"""Training: edits that make a claim false, two statements in one, and weights that decide about no claim of theirs."""

import random

import numpy as np
import pytest

from scripts.claim_training.by_hand import (
    held_out_pairs,
    pair_figures,
    read_llm_claims,
    read_pairs,
    read_sentences,
    sentence_figures,
)
from scripts.claim_training.edits import FALSE_EDITS, Edit, Editor
from scripts.claim_training.example import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT_SUPPORTED, Example
from scripts.claim_training.joining import JOINED, joined_pairs
from scripts.claim_training.measure import EVEN, Claims
from scripts.claim_training.support import judged_by_others, peoples_claims
from scripts.claim_training.templates import family_of, make_families, make_templates, read_templates

SENTENCES = (
    "The mayor of Leeds opened a bridge on Tuesday with 300 guests.",
    "Builders from Austria worked on the bridge for 14 months, which pleased most of the council of Bradford.",
    "It was paid for by the state, and more than half of it may be paid back.",
    "Anna Holt praised Bob Ray because the bridge is the longest in the north of England.",
)
DOCUMENT = " ".join(SENTENCES)


def variants(seed: int) -> list[tuple[Edit, str]]:
    made = Editor(DOCUMENT, SENTENCES, SENTENCES, random.Random(seed))
    return [variant for sentence in SENTENCES for variant in made.variants(sentence)]


def test_every_kind_of_edit_is_made_and_none_is_said_by_the_document() -> None:
    made = [variant for seed in range(60) for variant in variants(seed)]
    assert {edit for edit, _ in made} == {*FALSE_EDITS, Edit.SHORTENED}
    assert not [text for edit, text in made if edit is not Edit.SHORTENED and text.lower() in DOCUMENT.lower()]


def test_templates_are_the_same_each_time_and_those_held_out_are_never_trained_on() -> None:
    assert [*make_templates(20), *make_families(20)] == [*make_templates(20), *make_families(20)]
    trained, held_out = ([one for one in read_templates() if one.is_held_out is held] for held in (False, True))
    assert not {one.premise for one in trained} & {one.premise for one in held_out}
    assert {one.family for one in trained} == {one.family for one in held_out}
    words = " ".join(one.premise + one.claim for one in make_families(2000))
    assert not [word for word in ("fish market", "flooded", "stayed dry", "{") if word in words]  # of the front page


def test_a_group_of_a_family_is_a_true_and_a_false_claim_of_one_premise() -> None:
    examples = [*make_families(300), *make_families(300, held_out=True)]
    for true, false in zip(examples[::2], examples[1::2], strict=True):
        assert (true.premise, true.group, true.label) == (false.premise, false.group, ENTAILMENT)
        assert false.label in (NEUTRAL, CONTRADICTION)
    assert len({family_of(one) for one in examples}) == len({one.family for one in read_templates()}) - 1


def test_pairs_have_no_more_false_than_true_and_held_out_passages_are_never_trained_on() -> None:
    trained, passages = list(read_pairs()), dict[str, str]()
    false = [one.group for one in trained if one.label != ENTAILMENT]
    assert len(set(false)) == len(false)
    assert set(false) <= {one.group for one in trained if one.label == ENTAILMENT}
    held_out, fitted_to = list(held_out_pairs(passages)), list(held_out_pairs({}, to_fit=True))
    claims = [{one.claim for one in half} for half in (trained, held_out, fitted_to)]
    assert len(set[str]().union(*claims)) == sum(map(len, claims))
    assert {one.document for one in held_out} == set(passages)
    assert {one.label for one in held_out if one.edit == "added"} == {NEUTRAL}
    others = dict[str, str]()
    assert {one.claim for one in read_llm_claims()}.isdisjoint(one.claim for one in read_llm_claims(others))
    assert set(others) <= {one.document for one in fitted_to}


def test_figures_of_pairs_and_of_sentences_are_perfect_for_a_judge_that_knows_the_labels() -> None:
    for read, figures_of in ((held_out_pairs, pair_figures), (read_sentences, sentence_figures)):
        examples = list(read({}))
        known = np.array([0.9 if one.label == ENTAILMENT else 0.1 for one in examples])
        figures = figures_of(Claims(examples, known))
        assert {figures.get(key, 1.0) for key in ("pairs_in_order", "changes_refused", "balanced_accuracy")} == {1.0}


SHORT = "The mayor of Leeds opened a bridge on Tuesday. Builders from Austria worked on it for 14 months."
MAYOR, BUILDERS = "The mayor of Leeds opened a bridge.", "Builders from Austria worked on it for 14 months."


def statement(claim: str, group: str, label: int = ENTAILMENT, edit: str = "") -> Example:
    spans = () if label == ENTAILMENT else ((claim.index("10"), claim.index("10") + 2),)
    return Example("defacto", "d" * 16, SHORT, claim, label, group, spans, edit)


TRUE = [statement(MAYOR, "a"), statement(BUILDERS, "b")]
FALSE = statement(BUILDERS.replace("14", "10"), "b", NOT_SUPPORTED, "number")


@pytest.mark.parametrize("seed", range(12))
def test_two_true_statements_make_a_true_one_and_with_an_edit_a_false_one(seed: int) -> None:
    true, false = joined_pairs([*TRUE, FALSE], lambda claim: SHORT, random.Random(seed))
    assert (true.label, false.label) == (ENTAILMENT, NOT_SUPPORTED)
    assert (true.edit, true.group) == (false.edit, false.group) == (JOINED, true.group)
    assert all(words in true.claim for words in ("mayor of Leeds opened a bridge", "from Austria worked on it for 14"))
    assert [false.claim[start:end] for start, end in false.spans or ()] == ["10"]
    assert true.claim.replace("14", "10") == false.claim
    assert true.spans == ()


def test_without_an_edit_or_what_one_of_two_needs_there_is_no_false_pair() -> None:
    assert [one.label for one in joined_pairs(TRUE, lambda claim: SHORT, random.Random(1))] == [ENTAILMENT]
    assert list(joined_pairs(TRUE[:1], lambda claim: SHORT, random.Random(1))) == []
    assert list(joined_pairs([*TRUE, FALSE], lambda claim: MAYOR, random.Random(1))) == []


SOURCES = ("news", "records", "stories")


def example(source: str, number: int, label: int, edit: str = "") -> Example:
    return Example(source, f"{number:016}", "premise", f"claim {number}", label, f"{number}", None, edit)


EXAMPLES = [
    example(source, number, ENTAILMENT if number % 2 else CONTRADICTION) for source in SOURCES for number in range(40)
]
SHIFT = {"news": 0.0, "records": 8.0, "stories": 0.0}
"""How much higher the signal of a source is, of its true claims and its false ones."""


def signal(one: Example) -> float:
    is_high = (one.label == ENTAILMENT) != (int(one.group) % 10 < 2)  # one of five is on the wrong side
    return SHIFT[one.source] + (2.0 if is_high else -2.0)


EVIDENCE = [{"entailment": signal(one), "known_words": 0.0} for one in EXAMPLES]


def test_a_source_is_judged_by_weights_of_the_others() -> None:
    by_source = judged_by_others(EXAMPLES, EVIDENCE).by_source()
    assert set(by_source) == set(SOURCES)
    assert (by_source["records"].probabilities > EVEN).all()  # by weights of sources whose signal is lower


def test_sources_left_out_together_are_fitted_to_by_none_of_them() -> None:
    together = judged_by_others(EXAMPLES, EVIDENCE, ("news", "stories"))
    assert {one.source for one in together.examples} == {"news", "stories"}
    assert (together.probabilities < EVEN).all()  # by weights of the one whose signal is higher
    alone, each = judged_by_others(EXAMPLES, EVIDENCE, ("records",)), judged_by_others(EXAMPLES, EVIDENCE)
    assert np.array_equal(alone.probabilities, each.by_source()["records"].probabilities)


def test_claims_of_people_are_no_edits_whatever_the_order() -> None:
    pool = [*EXAMPLES, example("news", 99, CONTRADICTION, edit="number")]
    chosen = peoples_claims(pool)
    assert (len(chosen), any(one.edit for one in chosen)) == (len(EXAMPLES), False)
    assert chosen == peoples_claims(pool[::-1])
