"""Premise and hypothesis pairs to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from inference.call import Call
from inference.front_door import FrontDoor
from inference.model import LoadedModel
from inference.results import EntailmentBatch


class NliModel:
    """The NLI cross-encoder, behind the batcher."""

    def __init__(self, model: LoadedModel, door: FrontDoor) -> None:
        self.model = model
        self._door = door

    async def entail(self, pairs: Sequence[tuple[str, str]], call: Call = Call()) -> EntailmentBatch:  # noqa: B008
        """Scores (premise, hypothesis) pairs.

        Returns:
            Probabilities in the order of the pairs. A pair over the model's `max_tokens` is cut and flagged.

        Raises:
            RefusedError: nothing was admitted (queue full, list or text too long, shutting down).
            DeadlineExpiredError: the deadline passed before all of it was begun.
        """
        encode = partial(self.model.encoder.encode_pairs, memo={})  # a text of many pairs is tokenized once
        ticket, rows = await self._door.compute(pairs, encode, call)
        return EntailmentBatch.of(ticket, rows)
