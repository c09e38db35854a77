"""Two statements in one, for training: true when both are, false when one is not."""

import random

import pytest

from scripts.claim_training.example import ENTAILMENT, NOT_SUPPORTED, Example
from scripts.claim_training.joining import JOINED, joined_pairs

DOCUMENT = "The mayor of Leeds opened a bridge on Tuesday. Builders from Austria worked on it for 14 months."
MAYOR, BUILDERS = "The mayor of Leeds opened a bridge.", "Builders from Austria worked on it for 14 months."


def example(claim: str, group: str, label: int = ENTAILMENT, edit: str = "") -> Example:
    spans = () if label == ENTAILMENT else ((claim.index("10"), claim.index("10") + 2),)
    return Example("defacto", "d" * 16, DOCUMENT, claim, label, group, spans, edit)


TRUE = [example(MAYOR, "a"), example(BUILDERS, "b")]
FALSE = example(BUILDERS.replace("14", "10"), "b", NOT_SUPPORTED, "number")


@pytest.mark.parametrize("seed", range(12))
def test_two_true_statements_make_a_true_one_and_with_an_edit_a_false_one(seed: int) -> None:
    true, false = joined_pairs([*TRUE, FALSE], lambda claim: DOCUMENT, random.Random(seed))
    assert (true.label, false.label) == (ENTAILMENT, NOT_SUPPORTED)
    assert true.edit == false.edit == JOINED
    assert true.group == false.group
    for words in ("mayor of Leeds opened a bridge", "from Austria worked on it for 14 months"):
        assert words in true.claim
    assert [false.claim[start:end] for start, end in false.spans or ()] == ["10"]
    assert true.claim.replace("14", "10") == false.claim
    assert true.spans == ()


def test_without_an_edit_there_is_no_false_one_and_alone_a_statement_joins_nothing() -> None:
    assert [one.label for one in joined_pairs(TRUE, lambda claim: DOCUMENT, random.Random(1))] == [ENTAILMENT]
    assert list(joined_pairs(TRUE[:1], lambda claim: DOCUMENT, random.Random(1))) == []


def test_a_pair_whose_premise_lacks_what_one_of_them_needs_is_left_out() -> None:
    half = DOCUMENT.split(". ", maxsplit=1)[0]
    assert list(joined_pairs([*TRUE, FALSE], lambda claim: half, random.Random(1))) == []
