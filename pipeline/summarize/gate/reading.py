"""Reads written sentences: a model compares each with the passage that speaks of it, and the judge's rule decides."""

import asyncio
from collections.abc import Sequence
from weakref import WeakValueDictionary

from pipeline.model_answers import PairScores
from pipeline.protocols import Entailment
from pipeline.support.claim_support import Hypothesis, Support, SupportConfig, read_support

_SHARE = 32  # pairs that one caller may have read before the next one's turn: about a second


class ClaimReader:
    """Has sentences read, so many answers at once, in turns of the callers: nobody waits for all work of another.

    Args:
        most_at_once: calls of the model at the same time.
        config: what the labels mean.
    """

    def __init__(self, entailment: Entailment, most_at_once: int, config: SupportConfig) -> None:
        self.identity = str(entailment.identity)
        self._entailment, self._config = entailment, config
        self._most_at_once = most_at_once
        self._places = asyncio.Semaphore(most_at_once)  # first come, first served; a caller stands there but so often
        self._callers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def read(self, claims: Sequence[Hypothesis], *, caller: str = "") -> list[Support]:
        """Returns what the model says of each sentence."""
        pairs = list(dict.fromkeys(pair for claim in claims for pair in claim.pairs))
        scores = await PairScores.ask(self._entailment, ())
        own = self._callers.setdefault(caller, asyncio.Semaphore(self._most_at_once))
        async with own:
            for first in range(0, len(pairs), _SHARE):
                async with self._places:
                    scores.add(await PairScores.ask(self._entailment, pairs[first : first + _SHARE]))
        return [read_support(claim, scores, self._config) for claim in claims]
