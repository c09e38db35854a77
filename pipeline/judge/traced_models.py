"""The engine's models with a span around everything that they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.spans import open_span
from pipeline.protocols import Embedder, Entailment, Float32, ModelIdentity


@dataclass(frozen=True, slots=True)
class TracedEntailment:
    """`pipeline.protocols.Entailment`: each list of pairs is a span, waiting for the engine included."""

    inner: Entailment

    @property
    def identity(self) -> ModelIdentity:
        """The inner model's."""
        return self.inner.identity

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        """Returns what the inner model does."""
        with open_span("judge entail", pair_count=len(pairs)):
            return await self.inner.entail(pairs)


@dataclass(frozen=True, slots=True)
class TracedEmbedder:
    """`pipeline.protocols.Embedder`: each list of texts is a span, waiting for the engine included."""

    inner: Embedder

    @property
    def identity(self) -> ModelIdentity:
        """The inner model's."""
        return self.inner.identity

    async def embed(self, texts: Sequence[str]) -> Float32:
        """Returns what the inner model does."""
        with open_span("judge embed", text_count=len(texts)):
            return await self.inner.embed(texts)
