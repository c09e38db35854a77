"""The five components, and the loss: the weighted sum of what each one that applies lacks.

Facts: is what should be said there (recall), and is what is there right (precision)? Flow: does the summary visit the
points of the outline, and in their order? Semantic: how close is the summary as a whole to the gold summary? Length:
how near is it to its target?
"""

from collections.abc import Sequence
from itertools import combinations
from math import fsum, log1p

import numpy as np

from pipeline.compression import get_target_summary_length
from pipeline.errors import InvalidInputError
from pipeline.evaluate.config import EvaluateWeights
from pipeline.evaluate.datum import GoldStandardSummary
from pipeline.evaluate.result import (
    COVERAGE_WEIGHT,
    ORDER_WEIGHT,
    ChunkSpan,
    Components,
    ComponentScore,
    EntailmentEvidence,
    FactsResult,
    FlowResult,
    LengthResult,
    OutlineInversion,
    OutlinePoint,
    SemanticResult,
)
from pipeline.model_answers import Embeddings, Float64


def score_facts(facts: Sequence[EntailmentEvidence], claims: Sequence[EntailmentEvidence]) -> FactsResult:
    """Computes the F1 of recall over facts and precision over claims, mean probabilities; 0 without claims."""
    recall, precision = (_mean([one.probability for one in ones]) for ones in (facts, claims))
    soft_recall, soft_precision = (_mean([one.entailment for one in ones]) for ones in (facts, claims))
    return FactsResult(
        score=harmonic_mean(precision, recall),
        recall=recall,
        precision=precision,
        soft_score=harmonic_mean(soft_precision, soft_recall),
        soft_recall=soft_recall,
        soft_precision=soft_precision,
        facts=tuple(facts),
        sentences=tuple(claims),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def harmonic_mean(left: float, right: float) -> float:
    """Returns 2ab / (a + b), 0 when both are 0."""
    return 2 * left * right / (left + right) if left + right > 0 else 0.0


def score_flow(evidence: Sequence[EntailmentEvidence]) -> FlowResult:
    """Computes coverage and order over the outline points; at least one. A missed point has a place, too.

    Order fades where no point has a probability of 0.1: a text that tells nothing is in no order.
    """
    points = tuple(OutlinePoint(point, point.sentence_index) for point in evidence)
    placed = [(index, point.sentence_index) for index, point in enumerate(points) if point.sentence_index is not None]
    pairs = list(combinations(placed, 2))
    inverted = [OutlineInversion(earlier, later) for (earlier, first), (later, second) in pairs if first > second]
    weight = _weight(evidence, [(earlier, later) for (earlier, _), (later, _) in pairs])
    coverage = float(np.mean([point.probability for point in evidence]))
    most = max((evidence[index].probability for index, _ in placed), default=0.0)
    order = min(1.0, 10 * most) * (1 - _weight(evidence, inverted) / weight if weight > 0 else 1)
    return FlowResult(
        score=COVERAGE_WEIGHT * coverage + ORDER_WEIGHT * order,
        coverage=coverage,
        order=order,
        covered_count=sum(point.hit for point in evidence),
        points=points,
        inversions=tuple(pair for pair in inverted if all(evidence[point].hit for point in pair)),
    )


def _weight(points: Sequence[EntailmentEvidence], pairs: Sequence[tuple[int, int]]) -> float:
    """Returns how much pairs of points count: a pair of points that are hardly told hardly counts."""
    return fsum(points[left].probability * points[right].probability for left, right in pairs)


def score_semantic(generated: Sequence[ChunkSpan], gold: Sequence[ChunkSpan], embeddings: Embeddings) -> SemanticResult:
    """Computes the cosine of the two pooled vectors, clipped to [0, 1]."""
    left, right = _pool(generated, embeddings), _pool(gold, embeddings)
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    cosine = float(np.clip(left @ right / norms, -1, 1)) if norms > 0 else 0.0
    return SemanticResult(max(cosine, 0.0), cosine, tuple(generated), tuple(gold))


def _pool(chunks: Sequence[ChunkSpan], embeddings: Embeddings) -> Float64:
    """Returns the mean of the chunks' vectors weighted by tokens, shape (dimension,)."""
    weights = np.array([chunk.token_count for chunk in chunks], dtype=np.float64)
    return np.asarray(weights @ embeddings.of([chunk.text for chunk in chunks]) / weights.sum())


def score_length(
    generated_tokens: int, input_tokens: int, *, declared_input_tokens: int, tokenizer_name: str
) -> LengthResult:
    """Compares the summary's length with the target for its source. 10% off costs 0.095.

    The source is counted by the same tokenizer; 0 tokens, of control characters, count as 1. What the datum declares is
    reported and not used.
    """
    schedule_tokens = get_target_summary_length(input_tokens)
    target_tokens = min(schedule_tokens, max(input_tokens, 1))
    deviation = abs(generated_tokens - target_tokens) / target_tokens
    return LengthResult(
        score=1 - min(1.0, log1p(deviation)),
        deviation=deviation,
        generated_tokens=generated_tokens,
        input_tokens=input_tokens,
        declared_input_tokens=declared_input_tokens,
        schedule_tokens=schedule_tokens,
        target_tokens=target_tokens,
        target_lowered_to_input=target_tokens < schedule_tokens,
        tokenizer=tokenizer_name,
    )


COMPONENTS = ("facts", "entities", "flow", "semantic", "length")


def applicable_components(gold: GoldStandardSummary) -> list[str]:
    """Returns the components that the golden reference has something to compare with for."""
    needs = {"facts": gold.key_facts, "entities": gold.entity_list, "flow": gold.logical_outline}
    return [name for name in COMPONENTS if needs.get(name, True)]


def component_scores(components: Components, weights: EvaluateWeights) -> tuple[ComponentScore, ...]:
    """Returns each component's part in the loss; the weight of what does not apply goes to the rest, in proportion."""
    results = {name: getattr(components, name) for name in COMPONENTS}
    applied = applied_weights([name for name, result in results.items() if result is not None], weights)
    return tuple(
        ComponentScore(name, 0.0, 0.0, 0.0, applicable=False)
        if result is None
        else ComponentScore(name, result.score, applied[name], applied[name] * (1 - result.score), applicable=True)
        for name, result in results.items()
    )


def applied_weights(applicable: Sequence[str], weights: EvaluateWeights) -> dict[str, float]:
    """Returns the weights of the components that apply, scaled to sum to 1.

    Raises InvalidInputError: all of them have weight 0.
    """
    total = fsum(getattr(weights, name) for name in applicable)
    if total <= 0:
        expected = "a weight above 0 for a component that applies"
        raise InvalidInputError("options.weights", expected, f"0 for {', '.join(applicable)}")
    return {name: getattr(weights, name) / total for name in applicable}


def loss_of(scores: Sequence[ComponentScore]) -> float:
    """Returns the sum of contributions, in [0, 1]."""
    return min(1.0, max(0.0, fsum(score.contribution for score in scores)))
