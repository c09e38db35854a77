"""The settings of a judgement: every number that an operator may choose."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from pipeline.errors import parse
from pipeline.frozen import FrozenModel
from pipeline.judge.fusion import FusionForm
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK, LockRules, RelevanceMode
from pipeline.judge.result import Framework
from pipeline.judge.second_reader import SecondReaderFile
from pipeline.rule_identity import ScoringSettings
from pipeline.support.claim_support import SupportConfig


class EvidenceConfig(SupportConfig):
    """The settings of the evidence table (docs/concepts/evidence.md)."""

    max_claims: int = Field(
        default=1_000, ge=1, le=5_000, description="Claims that are checked; of more, the most consequential."
    )
    max_embedded_sentences: ClassVar[int] = 300  # sentences of either text that the embedder reads, at most
    fully_covered: ClassVar[float] = 0.75  # covered share above which a key point is fully covered
    partly_covered: ClassVar[float] = 0.25  # covered share below which a key point is not covered
    min_segment_tokens: ClassVar[int] = 6  # shorter segments and Judge key points are ignored
    theme_tokens: ClassVar[int] = 20  # longest theme
    intent_tokens: ClassVar[int] = 35  # longest description of intent, stance and tone
    question_count: ClassVar[int] = 6  # questions from either side


class LockConfig(FrozenModel):
    """The settings of the two locks (docs/concepts/locks.md)."""

    relevance_mode: RelevanceMode = Field(default=RelevanceMode.CONTAINMENT, description="What the bands are of.")
    correct_questions_needed: int = Field(
        default=JUDGE_LOCK.correct_questions or 0,
        ge=0,
        le=7,
        description='Right coverage questions of six; fewer cap Judge-Lock\'s Coverage. 7 is "six or fewer", '
        "which always caps.",
    )
    twin_safeguards: bool = Field(
        default=False,
        description="Give Twin-Lock two rules of Judge-Lock: severe hallucination caps Alignment, and the "
        "perfect-10 guard.",
    )

    def rules_of(self, framework: Framework) -> LockRules:
        """Returns the rules of a lock as these settings change them."""
        if framework is Framework.JUDGE_LOCK:
            needed = self.correct_questions_needed
            return replace(JUDGE_LOCK, relevance_mode=self.relevance_mode, correct_questions=needed)
        rules = replace(TWIN_LOCK, relevance_mode=self.relevance_mode)
        safeguards = ("severe_alignment", "perfect_score", "perfect_spans", "perfect_guard")
        borrowed = {name: getattr(JUDGE_LOCK, name) for name in safeguards}
        return replace(rules, **borrowed) if self.twin_safeguards else rules


class UltraConfig(FrozenModel):
    """The settings of Ultra."""

    eta: float = Field(default=1.0, gt=0, le=100, description="How fast level weights fall around the tools' mean.")
    form: FusionForm = Field(default=FusionForm.NORMALIZED, description="How tools and level probabilities are fused.")
    least_agreement: ClassVar[float] = 0.5  # Bhattacharyya coefficient below which a metric abstains
    least_certainty: ClassVar[float] = 0.2  # certainty of the claims below which hallucination abstains
    contradiction_limit: ClassVar[float] = 4.0  # highest score of a summary of which a claim is verifiably contradicted


class ProposalConfig(FrozenModel):
    """The settings of questions, answers and levels that a language model writes."""

    max_attempts: int = Field(default=2, ge=1, le=5, description="Answers asked for until one is valid.")
    question_tokens: int = Field(default=1_000, ge=128, description="Longest list of questions or answers.")
    level_tokens: int = Field(default=400, ge=32, description="Longest level with its reason and quotes.")
    top_logprobs: ClassVar[int] = 20  # alternatives asked for, to find all five letters
    sample_count: ClassVar[int] = 5  # answers of an endpoint without log-probabilities
    sample_temperature: ClassVar[float] = 0.7  # of the samples after the first two
    max_summary_chars: ClassVar[int] = 8_000  # characters of the summary that a prompt shows
    seed: ClassVar[int] = 0  # sent to endpoints that take a seed; samples count up from it


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


class JudgeConfig(ScoringSettings):
    """The settings of a judgement."""

    evidence: EvidenceConfig = EvidenceConfig()
    lock: LockConfig = LockConfig()
    ultra: UltraConfig = UltraConfig()
    proposals: ProposalConfig = ProposalConfig()
    second_reader: SecondReaderFile = Field(
        default=None, description="File of `precis calibrate --second-reader`. None: no claim is read twice."
    )
    limits: JudgeLimits = JudgeLimits()
    cache: JudgementCacheConfig = JudgementCacheConfig()

    def with_overrides(self, overrides: Mapping[str, Mapping[str, Any]]) -> "JudgeConfig":
        """Returns a copy with some settings replaced, by section and name, each section checked anew.

        Raises InvalidInputError: a value breaks its rule; the field is `options.<setting>`, callers see no sections.
        """
        changed: dict[str, BaseModel] = {}
        for name, values in overrides.items():
            section: BaseModel = getattr(self, name)
            changed[name] = parse(type(section), {**section.model_dump(), **values}, "options")
        return self.model_copy(update=changed)
