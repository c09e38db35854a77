"""A claim is read beside a long passage and a short one; the one that entails more counts."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.judge.evidence.build import build_evidence
from pipeline.judge.evidence.draft import EvidenceRequest
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


CLAUSES = ("Village 7 has 7 wells near the road", "the ninth village has 63 goats.")


class SureOfWholeSentences(OverlapEntailment):
    """Entails hypotheses of both clauses alone."""

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        self.calls.append(list(pairs))
        whole = [float(all(clause in claim.lower() for clause in map(str.lower, CLAUSES))) for _, claim in pairs]
        return np.array([[one, 0.0, 1 - one] for one in whole], dtype=np.float32)


@pytest.mark.parametrize(("joint", "support"), [("; ", 1.0), (". ", 0.0)])
def test_what_entails_a_sentence_entails_its_clauses_and_no_other_sentence(joint: str, support: float) -> None:
    entailment = SureOfWholeSentences()
    summary = joint.join(CLAUSES).replace(". t", ". T")
    table = asyncio.run(build_evidence(EvidenceRequest(ARTICLE, summary), fake_models(entailment=entailment)))
    assert [claim.entailment for claim in table.claims] == [support, support]
    asked = entailment.calls[0]
    assert len(asked) == len(set(asked))
