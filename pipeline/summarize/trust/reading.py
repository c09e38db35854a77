"""Reads written sentences: a model compares each with the passage that speaks of it, and the judge's rule decides."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.model_answers import Pair, PairScores
from pipeline.protocols import Entailment
from pipeline.support.claim_support import claim_support, signals

_EVIDENCE = EvidenceConfig()


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """A sentence that somebody wrote.

    Attributes:
        words: the sentence, on one line.
        passages: what speaks of it, as a model reads it; the one that entails more counts. None if nothing does.
        known_share: of the weight of its words, those that stand anywhere in the source.
    """

    words: str
    passages: tuple[str, ...]
    known_share: float

    @property
    def pairs(self) -> list[Pair]:
        """Premises, each with the hypothesis."""
        return [(passage, self.words) for passage in self.passages]


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """What a model says of a sentence.

    Attributes:
        probability: that its passages support it; 0 without one.
        is_supported: False for what is improbable, or contradicted (judge README, Claim labels).
    """

    probability: float
    is_supported: bool


_SHARE = 32  # pairs that one caller may have read before the next one's turn: about a second


class ClaimReader:
    """Has sentences read, so many answers at once, in turns of the callers: nobody waits for all work of another.

    Args:
        most_at_once: calls of the model at the same time.
    """

    def __init__(self, entailment: Entailment, most_at_once: int) -> None:
        self.identity = str(entailment.identity)
        self._entailment = entailment
        self._most_at_once = most_at_once
        self._places = asyncio.Semaphore(most_at_once)  # first come, first served; a caller stands there but so often
        self._callers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def read(self, claims: Sequence[WrittenClaim], *, caller: str = "") -> list[ClaimSupport]:
        """Returns what the model says of each sentence."""
        pairs = list(dict.fromkeys(pair for claim in claims for pair in claim.pairs))
        scores: dict[Pair, PairScores] = {}
        own = self._callers.setdefault(caller, asyncio.Semaphore(self._most_at_once))
        async with own:
            for first in range(0, len(pairs), _SHARE):
                share = pairs[first : first + _SHARE]
                async with self._places:
                    scores |= dict.fromkeys(share, await PairScores.ask(self._entailment, share))
        return [_judge(claim, scores) for claim in claims]


def _judge(claim: WrittenClaim, scores: Mapping[Pair, PairScores]) -> ClaimSupport:
    if not claim.passages:
        return ClaimSupport(0.0, is_supported=False)
    entailment = max(scores[pair].entailment(*pair) for pair in claim.pairs)
    contradiction = max(scores[pair].contradiction(*pair) for pair in claim.pairs)
    probability = claim_support(signals(entailment, claim.known_share))
    is_contradicted = contradiction >= _EVIDENCE.contradicted and contradiction > entailment
    return ClaimSupport(probability, not is_contradicted and probability >= _EVIDENCE.partly_supported)
