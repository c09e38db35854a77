"""A claim is read beside a long passage and a short one; the one that entails more counts."""

import asyncio
from collections.abc import Sequence

import numpy as np

from pipeline.judge.evidence.build import build_evidence
from pipeline.judge.evidence.plan import EvidenceRequest
from pipeline.model_answers import PairScores
from pipeline.protocols import Float32
from tests.fakes_pipeline import OverlapEntailment, fake_models

ARTICLE = " ".join(f"Village {n} has {n} wells and {n * 7} goats near the old road." for n in range(300))


class LostInLongTexts(OverlapEntailment):
    """Entails what it reads in short premises alone."""

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        self.calls.append(list(pairs))
        short = [float(len(premise) <= 250) for premise, _ in pairs]
        return np.array([[one, 0.0, 1 - one] for one in short], dtype=np.float32)


def test_the_passage_that_entails_more_counts() -> None:
    entailment = LostInLongTexts()
    request = EvidenceRequest(ARTICLE, "Village 7 has 7 wells and 49 goats near the old road.")
    claim = asyncio.run(build_evidence(request, fake_models(entailment))).claims[0]
    assert claim.premise is not None
    assert claim.support is not None
    assert len(claim.premise.text) <= 250 < max(len(premise) for call in entailment.calls for premise, _ in call)
    assert claim.support.text in claim.premise.text
    assert claim.entailment == 1.0


def test_what_is_reported_is_what_the_model_said_of_the_returned_premise() -> None:
    table = asyncio.run(
        build_evidence(
            EvidenceRequest(ARTICLE, "Village 7 has 7 wells; Village 9 has 63 goats. It is so."),
            fake_models(entailment=OverlapEntailment()),
        )
    )
    for claim in table.claims:
        assert claim.premise is not None
        pairs = [(claim.premise.text, claim.passage.text)]
        scores = PairScores(pairs, asyncio.run(OverlapEntailment().entail(pairs)))
        assert claim.entailment == scores.entailment(*pairs[0])
        assert claim.contradiction == 0 or claim.contradiction >= scores.contradiction(*pairs[0])
