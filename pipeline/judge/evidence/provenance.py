"""What an evidence table comes from: models, pairs and time."""

from dataclasses import dataclass

from pipeline.protocols import ModelIdentity


@dataclass(frozen=True, slots=True)
class PairUsage:
    """NLI pairs of a request: how many were scored, and how many all windows would have made; repeats left out."""

    scored_pair_count: int
    exact_pair_count: int


@dataclass(frozen=True, slots=True)
class EvidenceModels:
    """What the numbers come from."""

    entailment: ModelIdentity
    embedder: ModelIdentity
    tokenizer: str


@dataclass(frozen=True, slots=True)
class EvidenceTimings:
    """Where the time went, in milliseconds; waiting for the models included. Not part of what must be reproducible."""

    total_ms: float
    reading_ms: float
    embedding_ms: float
    proposals_ms: float
    nli_ms: float
    assembly_ms: float
