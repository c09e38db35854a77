"""What settings and outside data are built on."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Cannot be changed, and refuses keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
