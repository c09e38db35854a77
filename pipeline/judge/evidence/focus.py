"""Whether a summary is about what its source is about: cosine of their mean vectors."""

import numpy as np

from pipeline.judge.evidence.grounding import Told
from pipeline.judge.evidence.plan import Plan
from pipeline.judge.evidence.relevance import Float64


def focus_cosine(plan: Plan, told: Told) -> float:
    """Returns the cosine of the mean vectors of source and summary, in [-1, 1]; 1 when a side has no sentence.

    Of the summary the sentences that say something of the source, alone or with the one other that leads farthest away.
    """
    middle = _unit(plan.closeness.vectors.sum(axis=0))
    vectors = plan.told_closeness.vectors
    grounded = vectors[list(told.grounded)].sum(axis=0)
    sums = [grounded, *(grounded + vectors[index] for index in told.others)]
    if not (middle.any() and grounded.any()):
        return 1.0
    return min(float(np.clip(middle @ _unit(total), -1, 1)) for total in sums)


def _unit(vector: Float64) -> Float64:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), float(np.finfo(np.float64).tiny)))
