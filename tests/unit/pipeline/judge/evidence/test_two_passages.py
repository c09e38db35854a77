"""A claim is read beside a long passage and a short one; the one that entails more counts."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.judge.evidence.build import build_evidence
from pipeline.judge.evidence.plan import EvidenceRequest, ReadSource
from pipeline.model_answers import PairScores
from pipeline.protocols import Float32
from pipeline.support.claim_support import ENTAILED
from tests.fakes_pipeline import OverlapEntailment, fake_models

ARTICLE = " ".join(f"Village {n} has {n} wells and {n * 7} goats near the old road." for n in range(300))


class TwoMinds(OverlapEntailment):
    """Entails short premises to one degree and long ones to another."""

    def __init__(self, short: float, long: float) -> None:
        super().__init__()
        self.short, self.long = short, long

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        self.calls.append(list(pairs))
        degrees = [self.short if len(premise) <= 250 else self.long for premise, _ in pairs]
        return np.array([[one, 0.0, 1 - one] for one in degrees], dtype=np.float32)


@pytest.mark.parametrize(("short", "long"), [(0.99, 1.0), (0.5, 1.0), (0.5, 0.25), (0.5, 0.5)])
def test_the_longer_passage_is_read_where_the_shorter_leaves_it_open_and_the_one_that_entails_more_counts(
    short: float, long: float
) -> None:
    entailment = TwoMinds(short, long)
    request = EvidenceRequest(ReadSource(ARTICLE), "Village 7 has 7 wells and 49 goats near the old road.")
    (claim,) = asyncio.run(build_evidence(request, fake_models(entailment))).claims
    is_long_read = any(len(premise) > 250 for call in entailment.calls for premise, _ in call)
    assert is_long_read == (short < ENTAILED)
    assert claim.premise is not None
    assert claim.support is not None
    assert (len(claim.premise.text) > 250) == (is_long_read and long >= short)
    assert claim.support.text in claim.premise.text
    assert claim.entailment == pytest.approx(max(short, long) if is_long_read else short)


def test_what_is_reported_is_what_the_model_said_of_the_returned_premise() -> None:
    table = asyncio.run(
        build_evidence(
            EvidenceRequest(ReadSource(ARTICLE), "Village 7 has 7 wells; Village 9 has 63 goats. It is so."),
            fake_models(entailment=OverlapEntailment()),
        )
    )
    for claim in table.claims:
        assert claim.premise is not None
        pairs = [(claim.premise.text, claim.passage.text)]
        scores = PairScores(pairs, asyncio.run(OverlapEntailment().entail(pairs)))
        assert claim.entailment == scores.entailment(*pairs[0])
        assert claim.contradiction == 0 or claim.contradiction >= scores.contradiction(*pairs[0])
