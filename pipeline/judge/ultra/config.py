"""The settings of Ultra (README, Ultra)."""

from pydantic import Field

from pipeline.frozen import FrozenModel
from pipeline.judge.fusion import FusionForm


class UltraConfig(FrozenModel):
    """The settings of Ultra."""

    eta: float = Field(default=1.0, gt=0, le=100, description="How fast level weights fall around the tools' mean.")
    form: FusionForm = Field(default=FusionForm.NORMALIZED, description="How tools and level probabilities are fused.")
    smoothing: float = Field(default=0.05, ge=0, le=1, description="Share of equal probabilities mixed into a model's.")
    least_agreement: float = Field(
        default=0.5, ge=0, le=1, description="Bhattacharyya coefficient below which a metric abstains."
    )
    least_certainty: float = Field(
        default=0.2, ge=0, le=1, description="Certainty of the claims below which hallucination abstains."
    )
    contradiction_limit: float = Field(
        default=4.0, ge=0, le=10, description="Highest score of a summary of which a claim is verifiably contradicted."
    )
