"""Edits that make a true claim say what its document does not, for training and for the benchmark."""

import random

import pytest

from scripts.claim_training.edits import FALSE_EDITS, Edit, Editor, negate
from scripts.claim_training.templates import HELD_OUT, TRAINED, make_templates

SENTENCES = (
    "The mayor of Leeds opened a bridge on Tuesday with 300 guests.",
    "Builders from Austria worked on the bridge for 14 months, which pleased most of the council of Bradford.",
    "It was paid for by the state, and more than half of it may be paid back.",
    "Anna Holt praised Bob Ray because the bridge is the longest in the north of England.",
)
DOCUMENT = " ".join(SENTENCES)


def editor(seed: int = 0) -> Editor:
    return Editor(DOCUMENT, SENTENCES, SENTENCES, random.Random(seed))


def variants(seed: int) -> list[tuple[Edit, str]]:
    made = editor(seed)
    return [variant for sentence in SENTENCES for variant in made.variants(sentence)]


def test_every_kind_of_edit_is_made_and_none_is_said_by_the_document() -> None:
    made = [variant for seed in range(60) for variant in variants(seed)]
    assert {edit for edit, _ in made} == {*FALSE_EDITS, Edit.SHORTENED}
    assert not [text for edit, text in made if edit is not Edit.SHORTENED and text.lower() in DOCUMENT.lower()]


def test_the_same_generator_makes_the_same_edits() -> None:
    assert variants(3) == variants(3)
    assert variants(3) != variants(4)


def test_one_number_is_replaced_and_nothing_else() -> None:
    edited = editor().number("It took 14 months.")
    assert edited is not None
    assert edited.startswith("It took ")
    assert edited.endswith(" months.")
    assert edited != "It took 14 months."
    assert editor().number("It took long.") is None


def test_a_name_is_replaced_by_another_and_two_change_places() -> None:
    assert editor().name("Nobody came.") is None
    replaced = editor().name("Anna Holt left.")
    assert replaced is not None
    assert "Anna" not in replaced
    assert editor().roles("Anna Holt praised Bob Ray.") == "Bob Ray praised Anna Holt."
    assert editor().roles("Anna Holt and Bob Ray came.") is None


@pytest.mark.parametrize(
    ("claim", "negated"),
    [
        ("The bridge was paid for.", "The bridge was not paid for."),
        ("It has not been named.", "It has been named."),
        ("Nobody came.", None),
    ],
)
def test_a_negation_is_put_in_or_taken_out(claim: str, negated: str | None) -> None:
    assert negate(claim) == negated


def test_what_is_shortened_stays_true() -> None:
    assert editor().shorten("The bridge, which he opened, is new.") == "The bridge is new."
    long = "Prices of wheat and maize fell again in March because of rain."
    assert editor().shorten(long) == "Prices of wheat and maize fell again in March."
    assert editor().shorten("It is new.") is None


def test_templates_are_the_same_each_time_and_those_held_out_are_never_trained_on() -> None:
    assert list(make_templates(20)) == list(make_templates(20))
    assert not {premise for premise, _, _ in TRAINED} & {premise for premise, _, _ in HELD_OUT}
    trained, held_out = ({one.label for one in make_templates(200, held_out=held)} for held in (False, True))
    assert len(trained) == len(held_out) == 2
