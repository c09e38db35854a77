"""Small deterministic stand-ins for what the pipeline needs from models."""

import re
import threading
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from pipeline.llm.chat_model import ChatModel
from pipeline.protocols import Embedder, Entailment, Float32, ModelIdentities, ModelIdentity, Models, Tokenizer

WORD = re.compile(r"\w+")


class ScriptedEntailment:
    """Entails what the script says; every other pair gets the default. Remembers what it was asked.

    Args:
        script: entailment probability by (premise, hypothesis), in any case; contradiction is a quarter of the rest.
        default: entailment probability of pairs that are not in the script.
    """

    identity = ModelIdentity("scripted-nli", "1", "a" * 64)

    def __init__(self, script: Mapping[tuple[str, str], float] | None = None, default: float = 0.0) -> None:
        self.calls: list[list[tuple[str, str]]] = []
        self._script = {_folded(pair): entailment for pair, entailment in (script or {}).items()}
        self._default = default

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        self.calls.append(list(pairs))
        entailment = np.array([self._script.get(_folded(pair), self._default) for pair in pairs], dtype=np.float32)
        return np.stack([entailment, (1 - entailment) * 0.75, (1 - entailment) * 0.25], axis=1)


def _folded(pair: tuple[str, str]) -> tuple[str, str]:
    return pair[0].lower(), pair[1].lower()


class OverlapEntailment:
    """Entails a hypothesis as far as its words are in the premise. Remembers what it was asked."""

    identity = ModelIdentity("overlap-nli", "1", "b" * 64)

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str]]] = []

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        self.calls.append(list(pairs))
        entailment = np.array([_overlap(premise, hypothesis) for premise, hypothesis in pairs], dtype=np.float32)
        return np.stack([entailment, (1 - entailment) * 0.75, (1 - entailment) * 0.25], axis=1)


class BagOfWordsEmbedder:
    """Counts words in 512 hashed places: texts that share words are close. Remembers what it was asked."""

    identity = ModelIdentity("bag-of-words", "1", "c" * 64)

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Float32:
        self.calls.append(list(texts))
        return np.stack([bag_of_words(text) for text in texts])


class FixedEmbedder:
    """Gives the vectors it was made with; any other text lies on the first axis."""

    identity = ModelIdentity("fixed-vectors", "1", "d" * 64)

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self._vectors = {text: np.array(vector, dtype=np.float32) for text, vector in vectors.items()}
        self._dimension = len(next(iter(self._vectors.values())))

    async def embed(self, texts: Sequence[str]) -> Float32:
        axis = np.eye(self._dimension, dtype=np.float32)[0]
        return np.stack([self._vectors.get(text, axis) for text in texts])


class WordTokenizer:
    """One token for each word or other visible character."""

    name = "words"

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


class WatchedTokenizer(WordTokenizer):
    """Remembers the names of the threads that it ran on."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def offsets(self, text: str) -> list[tuple[int, int]]:
        self.threads.add(threading.current_thread().name)
        return super().offsets(text)


def fake_models(
    entailment: Entailment | None = None,
    embedder: Embedder | None = None,
    tokenizer: Tokenizer | None = None,
    chat: ChatModel | None = None,
) -> Models:
    """Makes the models of a request; what is left out goes by words."""
    entailment, embedder = entailment or OverlapEntailment(), embedder or BagOfWordsEmbedder()
    tokenizer = tokenizer or WordTokenizer()
    identities = ModelIdentities(entailment.identity, embedder.identity, tokenizer.name)
    return Models(entailment, embedder, tokenizer, identities, chat)


def bag_of_words(text: str) -> Float32:
    """Returns the hashed word counts of a text, of length 1."""
    vector = np.zeros(512, dtype=np.float32)
    for word in WORD.findall(text.casefold()) or [""]:
        vector[zlib.crc32(word.encode()) % 512] += 1
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _overlap(premise: str, hypothesis: str) -> float:
    known, asked = set(WORD.findall(premise.casefold())), set(WORD.findall(hypothesis.casefold()))
    return len(known & asked) / len(asked) if asked else 0.0
