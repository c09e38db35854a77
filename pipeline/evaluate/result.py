"""The result of an evaluation: the loss, its components, and everything they were computed from.

Every fact, claim and outline point has the passage that supports it best. A reader who has an `Evaluation` can
recompute every score by hand.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pipeline.evaluate.config import EvaluateConfig
from pipeline.protocols import ModelIdentities
from pipeline.reading.passage import Span, TextSpan

COVERAGE_WEIGHT = 0.7
ORDER_WEIGHT = 0.3


class HardFailRule(StrEnum):
    """The rules that give the greatest loss before any model runs."""

    META_COMMENTARY = "meta_commentary"
    INVALID_JSON = "invalid_json"
    TRUNCATION = "truncation"
    NOT_SHORTER = "not_shorter"


class EntityStatus(StrEnum):
    """What came of looking for an entity. The first two are valid."""

    VALID = "valid"
    VALID_WITHOUT_CONTEXT = "valid_without_context"
    NOT_FOUND = "not_found"
    CONTEXT_MISMATCH = "context_mismatch"


@dataclass(frozen=True, slots=True)
class HardFail:
    """The rule that fired. `evidence` is None when no place is to blame, as for empty text."""

    rule: HardFailRule
    reason: str
    evidence: TextSpan | None


@dataclass(frozen=True, slots=True)
class ComponentScore:
    """A component's part in the loss."""

    name: str  # facts, entities, flow, semantic or length
    score: float  # in [0, 1]; 1 is perfect; 0 when not applicable
    weight: float  # as applied, in [0, 1]; weights of components that do not apply are shared out among the others
    contribution: float  # weight * (1 - score)
    applicable: bool  # False when the golden reference has nothing to compare with


@dataclass(frozen=True, slots=True)
class EntailmentEvidence:
    """A statement with the passage that supports it best."""

    hypothesis: TextSpan
    # the passage with the highest entailment, the longer one on a tie; None when there was none
    premise: TextSpan | None
    entailment: float  # by that passage, in [0, 1]
    contradiction: float  # the greatest by a passage, in [0, 1]; 0 for a statement that stands there word for word
    probability: float  # that the text supports the statement, in (0, 1), calibrated
    hit: bool  # whether probability >= hit_threshold, and nothing that was read contradicts the statement
    # the sentence of the passage that has most of the statement's words; None with `premise`
    sentence_index: int | None


@dataclass(frozen=True, slots=True)
class FactsResult:
    """score = 2PR / (P + R), 0 when both are 0. The soft values use the entailment instead of the probability."""

    score: float
    recall: float
    precision: float
    soft_score: float
    soft_recall: float
    soft_precision: float
    facts: tuple[EntailmentEvidence, ...]  # sentences of the key facts
    sentences: tuple[EntailmentEvidence, ...]  # claims: sentences of the summary


@dataclass(frozen=True, slots=True)
class EntityEvidence:
    """How one entity was looked for."""

    entity: TextSpan
    status: EntityStatus
    # the deciding words of the summary: the valid match, else the most similar words; None without words
    match: TextSpan | None
    fuzzy_ratio: float  # of entity and match, in [0, 1]
    # the gold mention whose context is closest to the match's; None without mention or fuzzy match
    mention: TextSpan | None
    context_cosine: float | None  # of the two contexts, in [-1, 1]; None with `mention`

    @property
    def is_valid(self) -> bool:
        """Whether the entity counts."""
        return self.status in (EntityStatus.VALID, EntityStatus.VALID_WITHOUT_CONTEXT)


@dataclass(frozen=True, slots=True)
class EntitiesResult:
    """score = valid_count / number of entities."""

    score: float
    valid_count: int
    entities: tuple[EntityEvidence, ...]


@dataclass(frozen=True, slots=True)
class OutlinePoint:
    """Where the summary speaks of one outline point, if anywhere."""

    evidence: EntailmentEvidence  # the point as hypothesis; the premises are passages of the generated summary
    # the sentence of the passage with most of the point's words; None without a passage
    sentence_index: int | None


class OutlineInversion(NamedTuple):
    """Two outline points, by index: `earlier_point` should come first, but the summary visits `later_point` before."""

    earlier_point: int
    later_point: int


@dataclass(frozen=True, slots=True)
class FlowResult:
    """score = 0.7 coverage + 0.3 order: the share of pairs in order, each with the product of its probabilities."""

    score: float
    coverage: float
    order: float
    covered_count: int
    points: tuple[OutlinePoint, ...]
    inversions: tuple[OutlineInversion, ...]


@dataclass(frozen=True, slots=True)
class ChunkSpan(Span):
    """A chunk that was embedded on its own: its place in the caller's text, its weight in the pool, what was read."""

    token_count: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class SemanticResult:
    """score = cosine clipped to [0, 1], of the two texts' embeddings, pooled over chunks by token count."""

    score: float
    cosine: float
    generated_chunks: tuple[ChunkSpan, ...]
    gold_chunks: tuple[ChunkSpan, ...]


@dataclass(frozen=True, slots=True)
class LengthResult:
    """score = 1 - min(1, ln(1 + deviation)); deviation = |generated - target| / target."""

    score: float
    deviation: float
    generated_tokens: int  # counted by `tokenizer`, as `input_tokens`
    input_tokens: int  # of the source text
    declared_input_tokens: int  # what the datum says; not used
    schedule_tokens: int  # what the compression schedule asks for
    target_tokens: int  # min(schedule_tokens, input_tokens); `target_lowered_to_input` tells whether the two differ
    target_lowered_to_input: bool
    tokenizer: str


@dataclass(frozen=True, slots=True)
class EvaluateTimings:
    """Where the time went, in milliseconds; waiting for the models included. What a hard fail leaves out takes 0."""

    total_ms: float
    heuristics_ms: float
    embedding_ms: float = 0.0
    nli_ms: float = 0.0
    aggregation_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Components:
    """The five results. None: not applicable. Length and semantic always apply."""

    facts: FactsResult | None
    entities: EntitiesResult | None
    flow: FlowResult | None
    semantic: SemanticResult
    length: LengthResult


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The loss of one generated summary."""

    loss: float  # in [0, 1]; 0 is perfect; exactly 1 after a hard fail
    hard_fail: HardFail | None  # set when a rule fired; then `components` is None and `scores` empty
    scores: tuple[ComponentScore, ...]  # one for each component, in the order facts, entities, flow, semantic, length
    components: Components | None
    config: EvaluateConfig  # the settings as applied
    models: ModelIdentities
    pair_count: int  # NLI pairs that were scored; repeats left out
    timings: EvaluateTimings
