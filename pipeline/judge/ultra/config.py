"""The settings of Ultra."""

from typing import ClassVar

from pydantic import Field

from pipeline.frozen import FrozenModel
from pipeline.judge.fusion import FusionForm


class UltraConfig(FrozenModel):
    """The settings of Ultra."""

    eta: float = Field(default=1.0, gt=0, le=100, description="How fast level weights fall around the tools' mean.")
    form: FusionForm = Field(default=FusionForm.NORMALIZED, description="How tools and level probabilities are fused.")
    smoothing: ClassVar[float] = 0.05  # share of equal probabilities mixed into a model's
    least_agreement: ClassVar[float] = 0.5  # Bhattacharyya coefficient below which a metric abstains
    least_certainty: ClassVar[float] = 0.2  # certainty of the claims below which hallucination abstains
    contradiction_limit: ClassVar[float] = 4.0  # highest score of a summary of which a claim is verifiably contradicted
