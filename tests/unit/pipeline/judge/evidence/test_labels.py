"""What copied, refuted and partly supported claims are labelled."""

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.protocols import Float32
from pipeline.support.claim_support import ClaimLabel
from tests.fakes_pipeline import ScriptedEntailment
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


def test_of_a_partly_supported_claim_the_values_that_differ_are_extraneous() -> None:
    claims = build(entailment=ScriptedEntailment(default=0.35)).claims
    assert [claim.label for claim in claims] == [ClaimLabel.PARTIAL] * 3
    assert [[span.quote for span in claim.unsupported] for claim in claims] == [[], ["$42 million"], []]
    assert [claim.extraneous_token_count for claim in claims] == [0, 2, 0]
