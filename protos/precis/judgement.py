"""What `Client.judge` returns: scores and claims of one summary, in plain Python."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from precis.errors import NoScore
from precis.v1 import evidence_pb2, judge_pb2
from precis.words import ClaimLabel, Framework, MetricName, MetricStatus, MismatchKind, SupportVerdict, word_of


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A number, date, name or negation of a claim that the source does not have, or has otherwise.

    Attributes:
        kind: what kind of thing.
        claimed: the words of the summary.
        source: what the source has in their place; empty when it has nothing.
    """

    kind: MismatchKind
    claimed: str
    source: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the summary.

    Attributes:
        text: the statement.
        start: where it begins in the summary, in characters.
        end: where it ends, exclusive.
        label: how well the source supports it.
        probability: that the source supports it, in (0, 1).
        support: sentence of the source that it was compared with; empty when there is none.
        mismatches: what the two say differently.
        message: everything that the server sent about it.
    """

    text: str
    start: int
    end: int
    label: ClaimLabel
    probability: float
    support: str
    mismatches: tuple[Mismatch, ...]
    message: evidence_pb2.Claim = field(repr=False)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of one framework.

    Attributes:
        name: which metric.
        status: whether the score counts; "abstained": the evidence disagrees, and people should look at it.
        score: in [0, 10], 10 is best; None when it could not be scored.
        confidence: in [0, 1]; None for frameworks that do not estimate it.
        reason: how the score came about.
        error: why there is no score; empty when there is one.
        message: everything that the server sent about it.
    """

    name: MetricName
    status: MetricStatus
    score: float | None
    confidence: float | None
    reason: str
    error: str
    message: judge_pb2.JudgeMetric = field(repr=False)


class _FiveScores:
    """The scores by name. Each is in [0, 10], 10 is best, and raises NoScore when it could not be computed."""

    def metric(self, name: MetricName) -> Metric:
        """Returns one metric with its status, confidence and reason. Raises NoScore when the server sent none."""
        raise NotImplementedError

    def score(self, name: MetricName) -> float:
        """Returns the score of one metric."""
        metric = self.metric(name)
        if metric.score is None:
            raise NoScore(name, metric.error or metric.status)
        return metric.score

    @property
    def coverage(self) -> float:
        """How much of the source's core content the summary has, and nothing else."""
        return self.score("coverage")

    @property
    def alignment(self) -> float:
        """Whether intent, stance and tone are kept."""
        return self.score("alignment")

    @property
    def hallucination(self) -> float:
        """Whether the claims are supported; 10 is none hallucinated."""
        return self.score("hallucination")

    @property
    def relevance(self) -> float:
        """Whether every part is about the source's subject."""
        return self.score("relevance")

    @property
    def bias_toxicity(self) -> float:
        """Whether the summary is fair, neutral and civil; 10 is."""
        return self.score("bias-toxicity")


@dataclass(frozen=True)
class FrameworkScores(_FiveScores):
    """The scores of one framework.

    Attributes:
        framework: which one.
        metrics: all of them, in the strict order.
        mean_score: of the metrics that count, in [0, 10]; None when none does.
        message: everything that the server sent about it.
    """

    framework: Framework | Literal["unknown"]
    metrics: tuple[Metric, ...]
    mean_score: float | None
    message: judge_pb2.FrameworkResult = field(repr=False)

    def metric(self, name: MetricName) -> Metric:
        """Returns one metric with its status, confidence and reason. Raises NoScore when the server sent none."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise NoScore(name, "the server sent no such metric")


@dataclass(frozen=True)
class Judgement(_FiveScores):
    """The judgement of one summary. Its own scores are those of Ultra, or else of the first framework.

    Attributes:
        message: everything that the server sent.
    """

    message: judge_pb2.JudgeResult = field(repr=False)

    @cached_property
    def frameworks(self) -> tuple[FrameworkScores, ...]:
        """The scores of each framework that judged."""
        return tuple(map(_framework_scores, self.message.frameworks))

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Statements of the summary that were checked, in order; none when only scores were asked for."""
        return tuple(map(_claim, self.message.evidence.claims))

    @property
    def unsupported(self) -> tuple[Claim, ...]:
        """Claims that the source does not support, or contradicts."""
        return tuple(claim for claim in self.claims if claim.label == "unsupported")

    @property
    def omitted_claim_count(self) -> int:
        """Statements of the summary that were not checked, because there are more than `max_claims`."""
        return self.message.claim_count - self.message.checked_claim_count

    @property
    def worst_claim_score(self) -> float | None:
        """10 x the probability that the source supports the least supported claim; None without claims."""
        return self.message.worst_claim_score if self.message.HasField("worst_claim_score") else None

    @property
    def verdict(self) -> SupportVerdict:
        """Whether the source supports the summary, read from its worst claim; "abstained": people should look."""
        verdict: SupportVerdict = word_of(judge_pb2.SupportVerdict, self.message.verdict)
        return verdict

    @property
    def rules(self) -> str:
        """Identity of the rules that the scores come from; scores of other rules do not compare."""
        return self.message.rules

    def faults(
        self,
        minimum: float | None = None,
        *,
        name: MetricName = "hallucination",
        worst_claim: float | None = None,
        max_unsupported: int | None = None,
    ) -> tuple[str, ...]:
        """Says what keeps the summary from passing; nothing when it passes. What asks for nothing lets all pass.

        Args:
            minimum: least score of a metric, in [0, 10].
            name: of which metric.
            worst_claim: least score of the worst claim, in [0, 10]: one invention among many does not pass.
            max_unsupported: claims that may be unsupported, those that were not checked among them.

        Raises:
            NoScore: `minimum` is of a metric that could not be scored, or no claim was checked.
        """
        if not self.message.checked_claim_count and (worst_claim, max_unsupported) != (None, None):
            raise NoScore("worst-claim", "no claim was checked")
        faults, doubted = [], self.message.unsupported_claim_count + self.omitted_claim_count
        if minimum is not None and (score := self.score(name)) < minimum:
            word = "faithfulness" if name == "hallucination" else name
            faults.append(f"{word} is {score:.2f} of 10, expected {minimum:g}")
        if worst_claim is not None and self.message.worst_claim_score < worst_claim:
            faults.append(f"the worst claim has {self.message.worst_claim_score:.2f} of 10, expected {worst_claim:g}")
        if max_unsupported is not None and doubted > max_unsupported:
            faults.append(f"claims not supported or not checked: {doubted}, expected at most {max_unsupported}")
        return tuple(faults)

    @property
    def mean_score(self) -> float | None:
        """Mean of the metrics that count, in [0, 10]; None when none does."""
        return self.framework().mean_score

    def framework(self, name: Framework | None = None) -> FrameworkScores:
        """Returns the scores of one framework, by default those of Ultra, or else of the first.

        Raises:
            NoScore: this framework has not judged.
        """
        wanted = name or "ultra"
        for scores in self.frameworks:
            if scores.framework == wanted:
                return scores
        if name is None and self.frameworks:
            return self.frameworks[0]
        raise NoScore(wanted, "it was not asked for")

    def metric(self, name: MetricName) -> Metric:
        """Returns one metric with its status, confidence and reason. Raises NoScore when the server sent none."""
        return self.framework().metric(name)

    def explain(self, name: MetricName) -> str:
        """Returns the claims that the source does not support, then how the score came about. Raises NoScore."""
        claims = "; ".join(claim.text for claim in self.unsupported)
        reason = self.metric(name).reason
        return f"Unsupported: {claims} {reason}" if claims else reason


def to_judgement(response: judge_pb2.JudgeResponse) -> Judgement:
    """Wraps a response."""
    return Judgement(response.result)


def _framework_scores(result: judge_pb2.FrameworkResult) -> FrameworkScores:
    return FrameworkScores(
        framework=word_of(judge_pb2.JudgeFramework, result.framework),
        metrics=tuple(map(_metric, result.metrics)),
        mean_score=result.mean_score if result.HasField("mean_score") else None,
        message=result,
    )


def _metric(metric: judge_pb2.JudgeMetric) -> Metric:
    return Metric(
        name=word_of(judge_pb2.JudgeMetricName, metric.name),
        status=word_of(judge_pb2.JudgeMetricStatus, metric.status),
        score=metric.score if metric.HasField("score") else None,
        confidence=metric.confidence if metric.HasField("confidence") else None,
        reason=metric.reason,
        error=metric.error,
        message=metric,
    )


def _claim(claim: evidence_pb2.Claim) -> Claim:
    return Claim(
        text=claim.passage.text,
        start=claim.passage.start,
        end=claim.passage.end,
        label=word_of(evidence_pb2.ClaimLabel, claim.label),
        probability=claim.probability,
        support=claim.support.text,
        mismatches=tuple(
            Mismatch(word_of(evidence_pb2.MismatchKind, mismatch.kind), mismatch.claim.text, mismatch.source.text)
            for mismatch in claim.mismatches
        ),
        message=claim,
    )
