"""Texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence

from inference.call import Call
from inference.front_door import FrontDoor
from inference.model import LoadedModel
from inference.results import EmbeddingBatch


class Embedder:
    """The sentence embedder, behind the batcher."""

    def __init__(self, model: LoadedModel, door: FrontDoor) -> None:
        self.model = model
        self._door = door

    async def embed(self, texts: Sequence[str], call: Call = Call()) -> EmbeddingBatch:  # noqa: B008  (frozen)
        """Embeds all texts.

        Returns:
            Vectors in the order of the texts. A text over the model's `max_tokens` is cut and flagged.

        Raises:
            RefusedError: nothing was admitted (queue full, list or text too long, shutting down).
            DeadlineExpiredError: the deadline passed before all of it was begun.
        """
        ticket, rows = await self._door.compute(texts, self.model.encoder.encode_texts, call)
        return EmbeddingBatch.of(ticket, rows)
