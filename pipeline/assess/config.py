"""How assessments run: every number that an operator may choose."""

from pydantic import Field

from pipeline.frozen import FrozenModel


class AssessConfig(FrozenModel):
    """The settings of planner and executor."""

    max_attempts: int = Field(default=2, ge=1, le=5, description="Answers asked for until a plan or a look is valid.")
    plan_tokens: int = Field(default=300, ge=64, description="Longest plan of a language model.")
    look_tokens: int = Field(default=800, ge=64, description="Longest analysis of images by a language model.")
    seed: int = Field(default=0, description="Sent to endpoints that take a seed.")
