"""What the pipeline needs from models. `server/app.py` passes the real ones in.

An object of these classes serves one request: deadline and priority are bound to it by whoever makes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from pipeline.llm.chat_model import ChatModel
from pipeline.reading.passage import Span

Float32 = npt.NDArray[np.float32]

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
"""Columns of the probabilities that `Entailment` returns."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model wrote a number, so that a score can be reproduced."""

    name: str  # from the model's manifest
    revision: str  # from the model's manifest
    sha256: str  # of the graph file, 64 lower-case hexadecimal digits
    precision: str = "fp32"  # arithmetic and storage of the graph: "fp32", "int8_rows", perhaps more behind a comma


class Entailment(Protocol):
    """Says whether a hypothesis follows from a premise."""

    @property
    def identity(self) -> ModelIdentity:
        """The model behind the numbers."""

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        """Returns probabilities for (premise, hypothesis) pairs: all of them, or an error.

        Returns:
            Shape (pairs, 3) in the order of `pairs`; columns entailment, neutral, contradiction; rows sum to 1.
        """


@dataclass(frozen=True, slots=True)
class TokenMark(Span):
    """One token of a hypothesis, without spaces, and the probability in [0, 1] that the premise does not support it."""

    probability: float


@dataclass(frozen=True, slots=True)
class CheckedPairs:
    """What the model says about pairs."""

    probabilities: Float32  # as `Entailment.entail` returns them
    # by pair: the tokens of its hypothesis, in order. Empty where the model marks none; what was cut off a pair that is
    # too long for the model has none.
    marks: tuple[tuple[TokenMark, ...], ...]


@runtime_checkable
class ClaimChecker(Entailment, Protocol):
    """Also says which words of a hypothesis the premise does not support."""

    async def check(self, pairs: Sequence[tuple[str, str]]) -> CheckedPairs:
        """Returns probabilities and marks for (premise, hypothesis) pairs: all of them, or an error.

        The probabilities are those of `entail`, to the last bit, and cost what they cost there.
        """


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    @property
    def identity(self) -> ModelIdentity:
        """The model behind the vectors."""

    async def embed(self, texts: Sequence[str]) -> Float32:
        """Returns one vector for each text.

        Returns:
            Shape (texts, dimension) in the order of `texts`; every row has length 1.
        """


class Tokenizer(Protocol):
    """Counts and locates tokens. The embedder's own, so that chunks fit that model."""

    @property
    def name(self) -> str:
        """What the response calls it."""

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Returns start and end of every token in code points of `text`; special tokens are left out."""


@dataclass(frozen=True, slots=True)
class ModelIdentities:
    """What numbers come from."""

    entailment: ModelIdentity
    embedder: ModelIdentity
    tokenizer: str


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one request."""

    entailment: Entailment  # is asked in few, long lists
    embedder: Embedder  # likewise
    tokenizer: Tokenizer  # counts tokens
    identities: ModelIdentities  # names all but the chat model
    chat: ChatModel | None = None  # a language model; None: all that it could do has a deterministic form
