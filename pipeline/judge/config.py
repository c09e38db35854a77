"""The settings of a judgement: every number that an operator may choose."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from pipeline.errors import parse
from pipeline.frozen import FrozenModel
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.language_model.config import ProposalConfig
from pipeline.judge.locks.config import LockConfig
from pipeline.judge.ultra.config import UltraConfig


class JudgeLimits(FrozenModel):
    """How much one request may ask for. More is an InvalidInputError, never a cut text."""

    max_source_chars: int = Field(default=2_000_000, ge=1, description="Characters of the source text.")
    max_summary_chars: int = Field(default=200_000, ge=1, description="Characters of the summary.")
    max_tool_scores: int = Field(default=100, ge=0, description="Scores of the caller's own tools.")
    max_tool_name_chars: ClassVar[int] = 100


class JudgementCacheConfig(FrozenModel):
    """How much is kept in memory, for requests that come again and for sources with several summaries."""

    max_judgements: int = Field(default=256, ge=0, description="Judgements kept, the last used ones. 0: none.")
    max_chars: int = Field(
        default=20_000_000,
        ge=0,
        description="Characters of all judgements kept: both texts, and what the evidence of claims quotes of them.",
    )
    max_sources: int = Field(
        default=64, ge=0, description="Sources kept as read, for other summaries of them. 0: none."
    )
    max_source_chars: int = Field(
        default=2_000_000, ge=0, description="Characters of all sources kept as read: about 60 bytes each."
    )


class JudgeConfig(FrozenModel):
    """The settings of a judgement."""

    evidence: EvidenceConfig = EvidenceConfig()
    lock: LockConfig = LockConfig()
    ultra: UltraConfig = UltraConfig()
    proposals: ProposalConfig = ProposalConfig()
    limits: JudgeLimits = JudgeLimits()
    cache: JudgementCacheConfig = JudgementCacheConfig()

    def with_overrides(self, overrides: Mapping[str, Mapping[str, Any]]) -> "JudgeConfig":
        """Returns a copy with some settings replaced, checked anew.

        Args:
            overrides: new values by section (`evidence`, `lock`, `ultra`), then by setting.

        Raises:
            InvalidInputError: a value breaks its rule; the field is `options.<setting>`, for callers see no sections.
        """
        changed: dict[str, BaseModel] = {}
        for name, values in overrides.items():
            section: BaseModel = getattr(self, name)
            changed[name] = parse(type(section), {**section.model_dump(), **values}, "options")
        return self.model_copy(update=changed)
