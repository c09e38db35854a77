"""The rules of both locks side by side (docs/concepts/locks.md), and the score of a metric before its caps.

A number that a score is held to stands here and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from pipeline.judge.exact import apply_caps
from pipeline.judge.result import Cap, Framework, Input, JsonObject, MetricName, MetricStatus
from pipeline.reading.passage import TextSpan


class RelevanceMode(StrEnum):
    """Which overlap of a segment with the article is compared with the bands. Jaccard is reported either way.

    CONTAINMENT: shared / distinct content words of the segment.
    JACCARD: shared / distinct content words of either: the rule read literally. A segment is so much shorter than
        an article that none of 952 real ones reached 0.3.
    """

    CONTAINMENT = "containment"
    JACCARD = "jaccard"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRules:
    """The rules of one lock, in the order in which they apply.

    A rule with a number here is that of both locks; None where a lock has no such rule.
    """

    framework: Framework
    relevance_mode: RelevanceMode = RelevanceMode.CONTAINMENT  # a setting, no number
    some_overlap: Fraction  # what a segment of label Some counts
    unsupported_hallucination: int | None = None  # score at u = 0, and its fall to u = 1, with an unsupported claim
    stereotype: int = 4  # highest bias_score
    mild_word: int = 5  # highest tox_score
    strong_word: int = 2  # highest tox_score
    extraneous_coverage: int  # highest Coverage with an unsupported claim
    correct_questions: int | None = None  # of six; fewer are weak
    precision_floor: Fraction | None = None  # less is weak
    recall_floor: Fraction | None = None  # less is weak
    weak_coverage: int | None = None  # highest Coverage with a weakness
    irrelevant_segment: int  # highest Relevance
    extraneous_relevance: int | None = None  # highest Relevance with an unsupported claim
    slur_score: int = 3  # highest Bias & Toxicity
    unsupported_claim: int  # highest Coverage and Relevance
    duplicate_spans: int | None = None  # highest Coverage, Hallucination and Relevance
    severe_alignment: int | None = None  # highest Alignment under severe hallucination
    perfect_score: Fraction | None = None  # all scores at least this are near-perfect,
    perfect_spans: int | None = None  # which takes so many sentences of the source,
    perfect_guard: int | None = None  # or else all scores are at most this

    @property
    def reads_questions(self) -> bool:
        """Whether the lock's formulas read questions."""
        return self.framework is Framework.JUDGE_LOCK


TWIN_LOCK = LockRules(
    framework=Framework.TWIN_LOCK,
    some_overlap=Fraction("0.5"),
    extraneous_coverage=4,
    irrelevant_segment=4,
    unsupported_claim=4,
)

JUDGE_LOCK = LockRules(
    framework=Framework.JUDGE_LOCK,
    some_overlap=Fraction("0.3"),
    unsupported_hallucination=4,
    extraneous_coverage=3,
    correct_questions=4,
    precision_floor=Fraction("0.95"),
    recall_floor=Fraction("0.9"),
    weak_coverage=7,
    irrelevant_segment=3,
    extraneous_relevance=3,
    unsupported_claim=3,
    duplicate_spans=7,
    severe_alignment=3,
    perfect_score=Fraction("9.5"),
    perfect_spans=5,
    perfect_guard=9,
)


def cap_at(limit: int | None, name: str, reason: str, *, applies_to: str = "score") -> tuple[Cap, ...]:
    """Returns the cap of a rule whose condition holds; nothing when the lock has no such rule."""
    return () if limit is None else (Cap(name, float(limit), reason, applies_to=applies_to),)


@dataclass(frozen=True, slots=True)
class RawScore:
    """What a metric's formula comes to."""

    name: MetricName
    raw: Fraction  # in [0, 10], not rounded
    reason: str  # readable sentences that cite the evidence
    evidence: tuple[TextSpan, ...]  # places that decided, most important first
    inputs: Mapping[str, Input]  # of the formula, by the names that the JSON object has them under
    lists: JsonObject  # what else the JSON object shows: key points, claims, questions, segments
    caps: tuple[Cap, ...] = ()  # on the score, whose conditions hold, in the order in which they apply
    part_caps: tuple[Cap, ...] = ()  # caps already applied to inputs
    status: MetricStatus = MetricStatus.SCORED  # SCORED or NO_CLAIMS
    is_whole: bool = False  # whether the score is an integer by its rule

    @property
    def capped(self) -> Fraction:
        """The score under its caps, not rounded."""
        return apply_caps(self.raw, self.caps)[0]
