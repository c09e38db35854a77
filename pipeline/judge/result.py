"""The result of a framework: five metrics, each with its score, its caps, its reason and its JSON object.

PipelineError
└── MetricError    one metric has nothing to be computed from; the others are scored all the same
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

from pipeline.errors import PipelineError
from pipeline.reading.passage import TextSpan

MAX_SCORE = 10.0
"""Scores are in [0, 10]; higher is better in every metric."""

Input = float | int | str | bool
"""A number, count or word that a formula reads."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""What `json.dumps` takes; never NaN or infinity."""

JsonObject = dict[str, Json]


class MetricName(StrEnum):
    """The five metrics, in the strict order in which they are scored, reported and sent."""

    COVERAGE = "coverage"
    ALIGNMENT = "alignment"
    HALLUCINATION = "hallucination"
    RELEVANCE = "relevance"
    BIAS_TOXICITY = "bias_toxicity"


class MetricStatus(StrEnum):
    """Whether a score counts.

    SCORED: it does.
    NO_CLAIMS: the summary states nothing that could be checked; the score is the best by definition and says little.
    ABSTAINED: Ultra is not sure; the score is kept for the curious and left out of every mean.
    PARTIAL: it does, for those claims that were checked; a bound left others unchecked.
    UNSUPPORTED_LANGUAGE: there is no score, because source or summary is not English.
    NO_STATEMENT: there is no score, because the summary is a refusal, a greeting, headings or a word.
    ERROR: there is no score.
    """

    SCORED = "scored"
    NO_CLAIMS = "no_claims"
    ABSTAINED = "abstained"
    PARTIAL = "partial"
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    NO_STATEMENT = "no_statement"
    ERROR = "error"


class SupportVerdict(StrEnum):
    """Whether the source supports all of a summary.

    ABSTAINED: not decided, because the worst claim is supported in part, some were not checked, or there is none.
    """

    SUPPORTED = "supported"
    HAS_UNSUPPORTED = "has_unsupported"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class Cap:
    """A rule that limits a score, and whose condition holds."""

    name: str  # which rule, snake_case, for example `extraneous_claim`
    limit: float  # highest value it allows, in [0, 10]
    reason: str  # why it holds, one readable sentence
    lowered: bool = True  # once applied, whether the value was higher before; a rule may hold and change nothing
    # what it limits: `score`, or an input that the score is computed from, for example `tox_score`
    applies_to: str = "score"


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A score with everything it was computed from."""

    name: MetricName
    status: MetricStatus
    score: float | None  # in [0, 10], rounded once, at the end; None only with status ERROR. Never NaN.
    confidence: float | None  # in [0, 1]; None for the two lock frameworks, which are rules and not estimates
    reason: str  # readable sentences that cite the evidence
    evidence: tuple[TextSpan, ...]  # places of source and summary that decided, most important first
    # every count and number of the formula, by name, so that the score can be recomputed by hand
    inputs: Mapping[str, Input]
    caps: tuple[Cap, ...] = ()  # the limits whose conditions hold, in the order in which they were applied
    error: str | None = None  # why there is no score, snake_case word first; None unless there is no score
    lists: Mapping[str, Json] = field(default_factory=dict)  # what its object shows besides, for example key points
    is_whole: bool = False  # whether the score is an integer by its rule

    @classmethod
    def failed(cls, name: MetricName, error: str, status: MetricStatus = MetricStatus.ERROR) -> Self:
        """Makes a metric without a score."""
        return cls(name, status, None, None, f"Not scored: {error}.", (), {}, error=error)

    @property
    def counts(self) -> bool:
        """Whether the score may enter a mean."""
        return self.status in (MetricStatus.SCORED, MetricStatus.PARTIAL, MetricStatus.NO_CLAIMS)

    @property
    def shown(self) -> JsonObject:
        """Its JSON object (objects.schema.json): all of it but places; `{"error": "<reason>"}` for one that failed."""
        if self.error is not None:
            return {"error": self.error}
        estimate = {} if self.confidence is None else {"status": self.status.value, "confidence": self.confidence}
        return {
            "metric": self.name.value,
            **self.lists,
            **self.inputs,
            **estimate,
            "caps": [{"name": cap.name, "limit": cap.limit, "applies_to": cap.applies_to} for cap in self.caps],
            "reason": self.reason,
            "overall_score": int(self.score) if self.is_whole and self.score is not None else self.score,
        }


class Framework(StrEnum):
    """The ways to judge, in the order in which they are reported."""

    TWIN_LOCK = "twin_lock"
    JUDGE_LOCK = "judge_lock"
    ULTRA = "ultra"


@dataclass(frozen=True, slots=True)
class FrameworkResult:
    """What one framework says of a summary."""

    framework: Framework
    # all five, in the order of `MetricName`; one that failed is there with status ERROR
    metrics: tuple[MetricResult, ...]
    notes: tuple[str, ...] = ()  # on answers of a language model that could not be used

    @classmethod
    def unread(cls, framework: Framework, status: MetricStatus, reason: str) -> Self:
        """Makes a result without any score, because there is nothing that could be judged."""
        return cls(framework, tuple(MetricResult.failed(name, f"{status}: {reason}", status) for name in MetricName))

    def from_some_claims(self) -> Self:
        """Returns the same with the status PARTIAL where a score depends on claims, of which some were not checked."""
        metrics = tuple(
            replace(metric, status=MetricStatus.PARTIAL)
            if metric.status is MetricStatus.SCORED and metric.name is not MetricName.BIAS_TOXICITY
            else metric
            for metric in self.metrics
        )
        return replace(self, metrics=metrics)

    @property
    def objects(self) -> dict[MetricName, JsonObject]:
        """The metrics' objects, in the same order."""
        return {metric.name: metric.shown for metric in self.metrics}

    @property
    def degraded(self) -> bool:
        """Whether a language model's answer was unusable somewhere."""
        return bool(self.notes)

    def __getitem__(self, name: MetricName) -> MetricResult:
        """Returns one metric."""
        return self.metrics[tuple(MetricName).index(name)]

    @property
    def mean_score(self) -> float | None:
        """Mean of the scores that count; None when there is none."""
        scores = [metric.score for metric in self.metrics if metric.counts and metric.score is not None]
        return sum(scores) / len(scores) if scores else None


class MetricError(PipelineError):
    """One metric cannot be computed. Says so in a snake_case word, then what it means; never in the caller's text."""


MAX_QUOTE_CHARS = 90


def cite(passage: TextSpan) -> str:
    """Returns a short quote with its place: `"Profits rose" (source 120-132)`."""
    return f'"{_shorten(passage.text)}" ({passage.text_id} {passage.start}-{passage.end})'


def cite_first(passages: Sequence[TextSpan], most: int = 2) -> str:
    """Cites the first few passages, and says how many more there are."""
    cited = "; ".join(cite(passage) for passage in passages[:most])
    more = len(passages) - most
    return f"{cited}; and {more} more" if more > 0 else cited


def count(number: int, noun: str) -> str:
    """Returns "1 claim", "2 claims"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sentences(parts: Iterable[str]) -> str:
    """Joins the sentences that are not empty."""
    return " ".join(part for part in parts if part)


def _shorten(text: str) -> str:
    if len(text) <= MAX_QUOTE_CHARS:
        return text
    cut = text[: MAX_QUOTE_CHARS - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"
