"""What claims are labelled, and which words of a doubtful one are not supported."""

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.errors import ModelOutputError
from pipeline.protocols import CheckedPairs, Float32, TokenMark
from pipeline.support.claim_support import ClaimLabel
from tests.fakes_pipeline import WORD, ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import build


class Refuting(ScriptedEntailment):
    """Finds a contradiction everywhere."""

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        return np.tile(np.array([0.6, 0.0, 0.9], dtype=np.float32), (len(pairs), 1))


def test_a_literal_copy_is_not_contradicted_whatever_the_model_says() -> None:
    copied, swapped, shortened = build(entailment=Refuting()).claims
    assert (copied.contradiction, copied.label) == (0, ClaimLabel.SUPPORTED)
    assert shortened.contradiction == pytest.approx(0.9)
    assert shortened.label is ClaimLabel.UNSUPPORTED
    assert shortened.contradiction > shortened.entailment
    assert swapped.contradiction == pytest.approx(0.9)


def test_the_same_words_in_another_order_are_no_copy() -> None:
    (claim,) = build("Ann Lee sued Bob Ray in May.", "Bob Ray sued Ann Lee in May.", entailment=Refuting()).claims
    assert claim.label is ClaimLabel.UNSUPPORTED


def test_a_quantity_that_differs_makes_a_claim_unsupported_whatever_the_model_says() -> None:
    claims = build(entailment=ScriptedEntailment(default=0.35)).claims
    assert [claim.label for claim in claims] == [ClaimLabel.PARTIAL, ClaimLabel.UNSUPPORTED, ClaimLabel.PARTIAL]
    assert claims[1].probability <= 0.1
    assert [[span.quote for span in claim.unsupported] for claim in claims] == [[], [claims[1].passage.quote], []]


INVENTED = "Purple  elephants invaded the old bridge on Sunday."


class MarkingChecker(ScriptedEntailment):
    """Marks some words of every hypothesis."""

    def __init__(self, marked: Sequence[str], entailment: float = 0.0) -> None:
        super().__init__(default=entailment)
        self._marked = frozenset(marked)

    async def check(self, pairs: Sequence[tuple[str, str]]) -> CheckedPairs:
        marks = (
            tuple(
                TokenMark(word.start(), word.end(), 0.99 if word.group().lower() in self._marked else 0.01)
                for word in WORD.finditer(hypothesis)
            )
            for _, hypothesis in pairs
        )
        return CheckedPairs(await self.entail(pairs), tuple(marks))


def test_marked_words_are_what_is_extraneous() -> None:
    (claim,) = build(summary=INVENTED, entailment=MarkingChecker(["purple", "elephants", "sunday"])).claims
    assert claim.label is ClaimLabel.UNSUPPORTED
    assert [place.quote for place in claim.unsupported] == ["Purple  elephants", "Sunday"]
    assert claim.extraneous_token_count == 3
    assert claim.content_token_count > 3


def test_an_unsupported_claim_without_marked_words_is_extraneous_as_a_whole() -> None:
    (claim,) = build(summary=INVENTED, entailment=MarkingChecker([])).claims
    assert claim.label is ClaimLabel.UNSUPPORTED
    assert claim.unsupported == (claim.passage,)
    assert claim.extraneous_token_count == claim.content_token_count


def test_marks_of_a_supported_claim_say_nothing() -> None:
    copied = "Tom Reed has sold books on Bridge Street for 30 years."
    (claim,) = build(summary=copied, entailment=MarkingChecker(["tom", "books"], entailment=0.95)).claims
    assert claim.label is ClaimLabel.SUPPORTED
    assert claim.unsupported == ()
    assert claim.extraneous_token_count == 0


def test_marks_for_too_few_pairs_are_an_error_of_the_model() -> None:
    class Short(MarkingChecker):
        async def check(self, pairs: Sequence[tuple[str, str]]) -> CheckedPairs:
            return CheckedPairs(await self.entail(pairs), ())

    with pytest.raises(ModelOutputError, match="marks"):
        build(summary=INVENTED, entailment=Short([]))
