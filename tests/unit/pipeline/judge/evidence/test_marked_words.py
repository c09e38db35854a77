"""Words of a doubtful claim that the NLI model marks are what is not supported of it."""

from collections.abc import Sequence

import pytest

from pipeline.errors import ModelOutputError
from pipeline.protocols import CheckedPairs, TokenMark
from pipeline.support.claim_support import ClaimLabel
from tests.fakes_pipeline import WORD, ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import build

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
