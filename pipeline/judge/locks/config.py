"""The settings of the two locks: rules with two readings."""

from dataclasses import replace

from pydantic import Field

from pipeline.frozen import FrozenModel
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK, LockRules, RelevanceMode
from pipeline.judge.result import Framework


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
        if not self.twin_safeguards:
            return rules
        return replace(
            rules,
            severe_alignment=JUDGE_LOCK.severe_alignment,
            perfect_score=JUDGE_LOCK.perfect_score,
            perfect_spans=JUDGE_LOCK.perfect_spans,
            perfect_guard=JUDGE_LOCK.perfect_guard,
        )
