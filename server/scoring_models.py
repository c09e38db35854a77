"""The models that scores come from, as far as the server has them."""

from dataclasses import dataclass

from inference.engine import Engine
from server.bound_models import BoundEmbedder, BoundEntailment, Terms, TokenOffsets
from server.errors import ModelNotLoadedError

ROLES = ("embedding", "nli")


@dataclass(frozen=True, slots=True)
class BoundModels:
    """The models on the terms of one request."""

    entailment: BoundEntailment
    embedder: BoundEmbedder
    tokenizer: TokenOffsets


class ScoringModels:
    """NLI model, embedder, and the embedder's tokenizer. One object serves all services.

    Attributes:
        missing: roles that the settings leave out.
    """

    def __init__(self, engine: Engine) -> None:
        """Takes them from an engine that is entered."""
        self.missing = tuple(role for role in ROLES if role not in engine.models)
        self._engine = engine
        self._tokenizer = None if self.missing else TokenOffsets(engine.embedder.model.directory)

    def bound(self, terms: Terms) -> BoundModels:
        """Binds them to one request. Raises ModelNotLoadedError for the first that is missing."""
        if self._tokenizer is None:
            raise ModelNotLoadedError(self.missing[0])
        engine = self._engine
        return BoundModels(BoundEntailment(engine.nli, terms), BoundEmbedder(engine.embedder, terms), self._tokenizer)
