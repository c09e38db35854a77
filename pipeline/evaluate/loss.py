"""The loss: the weighted sum of what each component lacks, over the components that apply."""

from collections.abc import Sequence
from math import fsum

from pipeline.errors import InvalidInputError
from pipeline.evaluate.config import EvaluateWeights
from pipeline.evaluate.datum import GoldStandardSummary
from pipeline.evaluate.result import Components, ComponentScore

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

    Raises:
        InvalidInputError: all of them have weight 0.
    """
    total = fsum(getattr(weights, name) for name in applicable)
    if total <= 0:
        expected = "a weight above 0 for a component that applies"
        raise InvalidInputError("options.weights", expected, f"0 for {', '.join(applicable)}")
    return {name: getattr(weights, name) / total for name in applicable}


def loss_of(scores: Sequence[ComponentScore]) -> float:
    """Returns the sum of contributions, in [0, 1]."""
    return min(1.0, max(0.0, fsum(score.contribution for score in scores)))
