"""Words for what a judgement says, the same in tables, pages and messages: of scores, of claims, and of them all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from precis.errors import NoScore
from precis.judgement import Judgement
from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb
from precis.words import word_of

from server.cli.commands.judge import BEST_SCORE, LIMITS, Floor
from server.cli.console import counted

framework_word = partial(word_of, pb.JudgeFramework)
metric_word = partial(word_of, pb.JudgeMetricName)
label_word = partial(word_of, evidence_pb2.ClaimLabel)
mismatch_word = partial(word_of, evidence_pb2.MismatchKind)
coverage_word = partial(word_of, evidence_pb2.KeyPointCoverage)

COUNTING = {pb.JUDGE_METRIC_STATUS_SCORED, pb.JUDGE_METRIC_STATUS_PARTIAL, pb.JUDGE_METRIC_STATUS_NO_CLAIMS}
"""Statuses with a score that counts."""

WHOLE_SCORE = "score"  # what most caps limit
LEAST_CONTRADICTION = 0.5  # some passage always has the highest contradiction; below this it says nothing


def counting_score(metric: pb.JudgeMetric) -> float | None:
    """Returns a score that may enter means and comparisons; None for any other."""
    return metric.score if metric.status in COUNTING and metric.HasField("score") else None


def status_name(metric: pb.JudgeMetric) -> str:
    """Says what is special about a metric's score; empty when nothing is."""
    if metric.status == pb.JUDGE_METRIC_STATUS_SCORED:
        return ""
    return str(word_of(pb.JudgeMetricStatus, metric.status)).replace("-", " ")


def is_unread(result: pb.JudgeResult) -> bool:
    """Tells whether no model read the texts, because they could not be judged; no metric has a score then."""
    unread = (pb.JUDGE_METRIC_STATUS_UNSUPPORTED_LANGUAGE, pb.JUDGE_METRIC_STATUS_NO_STATEMENT)
    return any(metric.status in unread for *_, metric in metrics_of(result))


def metrics_of(result: pb.JudgeResult) -> Iterator[tuple[str, str, pb.JudgeMetric]]:
    """Yields all metrics, each behind the words for its framework and for itself."""
    for framework in result.frameworks:
        word = framework_word(framework.framework)
        yield from ((word, metric_word(metric.name), metric) for metric in framework.metrics)


def flat_scores(result: pb.JudgeResult) -> dict[str, float | int | str | None]:
    """Gives verdict, worst claim and scores by one name each; None for a score that does not count."""
    scores = {
        f"{framework}_{name}".replace("-", "_"): counting_score(metric)
        for framework, name, metric in metrics_of(result)
    }
    judged = Judgement(result)
    said = {"verdict": judged.verdict, "worst_claim": judged.worst_claim_score}
    return {**said, "unsupported_claims": result.unsupported_claim_count, "claims": result.claim_count, **scores}


def cap_name(cap: pb.MetricCap) -> str:
    """Says what a cap limits, unless that is the score itself, and to how much."""
    part = "" if cap.applies_to in ("", WHOLE_SCORE) else cap.applies_to.replace("_", " ")
    return f"{part} at most {cap.limit:.3g}".lstrip()


def is_contradicted(claim: evidence_pb2.Claim) -> bool:
    """Tells whether the source rather says the opposite than nothing."""
    return not is_supported(claim) and claim.contradiction > max(claim.probability, LEAST_CONTRADICTION)


def is_supported(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `support` supports the claim, rather than being the closest that there is."""
    return claim.label == evidence_pb2.CLAIM_LABEL_SUPPORTED


def doubted_words(claim: evidence_pb2.Claim) -> list[common_pb2.TextSpan]:
    """Lists the words of a claim that are not supported, without those that a mismatch names, nor the whole claim."""
    known = {(span.start, span.end) for span in (claim.passage, *(mismatch.claim for mismatch in claim.mismatches))}
    return [span for span in claim.unsupported if (span.start, span.end) not in known]


def models_said(models: Iterable[Any], *others: str) -> str:
    """Names models, each with the beginning of its hash, and others in a line."""
    return ", ".join([*(f"{model.name} {model.sha256[:8]}" for model in models), *others])


def add(total: common_pb2.LlmUsage, more: common_pb2.LlmUsage) -> None:
    """Adds to a total."""
    for name in ("calls", "prompt_tokens", "completion_tokens", "retries"):
        setattr(total, name, getattr(total, name) + getattr(more, name))


def in_words(usage: common_pb2.LlmUsage) -> str:
    """Gives for example "14 calls of the language model, 21,300 tokens read, 840 written, 2 retries"."""
    if not usage.calls and not usage.retries:
        return ""
    tokens = f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written"
    retries = f", {counted(usage.retries, 'retry', 'retries')}" if usage.retries else ""
    return f"{counted(usage.calls, 'call')} of the language model, {tokens}{retries}"


def breaches_of(result: pb.JudgeResult, floors: Sequence[Floor]) -> list[str]:
    """Lists what breaks a limit, for example "ultra hallucination 3.00 < 7"; a score that does not count does."""
    breaches: list[str] = []
    for floor in floors:
        if limit := LIMITS.get(floor.metric):
            try:
                limits: Any = {limit: floor.score}
                breaches += Judgement(result).faults(**limits)
            except NoScore as error:
                breaches.append(str(error))
        for framework, name, metric in metrics_of(result):
            if floor.framework not in (None, framework) or name != floor.metric:
                continue
            if (score := counting_score(metric)) is None:
                breaches.append(f"{framework} {name} has no score that counts ({status_name(metric)})")
            elif score < floor.score:
                breaches.append(f"{framework} {name} {score:.2f} < {floor.score:g}")
    return breaches


TITLES = {"twin-lock": "Twin-Lock", "judge-lock": "Judge-Lock", "ultra": "Ultra", "bias-toxicity": "Bias and toxicity"}
REFS_SHOWN = 4  # claims that a sentence of the source names at once; more are folded
SYMBOLS = {"supported": "✓", "partial": "~", "unsupported": "✗"}  # colour is never the only sign


def label_counts(claims: Iterable[evidence_pb2.Claim]) -> Counter[str]:
    """Counts the claims of each label."""
    return Counter(label_word(claim.label) for claim in claims)


class ClaimVerdict:
    """What all claims of a summary amount to, by a judgement whose evidence is there.

    Attributes:
        unchecked_count: claims that a bound left unread; `unsupported_count` and `partial_count` are of the others.
        worst: number of the least probable claim, from 1; None without claims.
        worst_score: 10 x its probability.
        reads_nothing: the summary states nothing that could be checked.
    """

    def __init__(self, result: pb.JudgeResult) -> None:
        claims, labels = result.evidence.claims, label_counts(result.evidence.claims)
        self.checked_count, self.unchecked_count = len(claims), result.evidence.omitted_claim_count
        self.claim_count = self.checked_count + self.unchecked_count
        self.unsupported_count, self.partial_count = labels["unsupported"], labels["partial"]
        least = min(((claim.probability, number) for number, claim in enumerate(claims, 1)), default=None)
        self.worst = least[1] if least else None
        self.worst_score = BEST_SCORE * least[0] if least else None
        self.reads_nothing = any(one.status == pb.JUDGE_METRIC_STATUS_NO_CLAIMS for *_, one in metrics_of(result))

    @property
    def left_out(self) -> str:
        """Says how many claims were not checked; empty when all were. Stands beside every score that is partial."""
        return f"{self.unchecked_count:,} of {self.claim_count:,} claims not checked" if self.unchecked_count else ""

    @property
    def said(self) -> str:
        """Says what was read and how much of it is not supported, without a full stop."""
        if not self.checked_count:
            return "The summary claims nothing that could be checked" if self.reads_nothing else "No claim was checked"
        read = "The summary's one claim was" if self.claim_count == 1 else f"All {self.claim_count:,} claims were"
        if self.unchecked_count:
            read = f"Only {self.checked_count:,} of the summary's {self.claim_count:,} claims were"
        kinds = ((self.unsupported_count, "not supported"), (self.partial_count, "supported only in part"))
        found = " and ".join(f"{count:,} {'is' if count == 1 else 'are'} {kind}" for count, kind in kinds if count)
        all_supported = "it is supported" if self.checked_count == 1 else "all of these are supported"
        return f"{read} checked against the source: {found or all_supported}"

    @property
    def worst_word(self) -> str:
        """Names the worst claim for what it is."""
        return "the worst" if self.unsupported_count or self.partial_count else "the least certain"

    def __str__(self) -> str:
        """Writes the verdict as one sentence of plain text."""
        if self.worst_score is None:
            return f"{self.said}."
        return f"{self.said}; {self.worst_word} is claim {self.worst} with {self.worst_score:.2f} of 10."


def title_of(word: str) -> str:
    """Writes a word as a heading."""
    return TITLES.get(word, word.capitalize())


def remarks_of(metric: pb.JudgeMetric, left_out: str = "") -> list[str]:
    """Lists what is special about a score, a few words each; a metric without a status is a mean of no scores.

    Args:
        metric: the metric.
        left_out: how many claims were not checked; stands beside a score that is partial.
    """
    # Caps without which the score would be higher, not those on a part of it.
    limits = [cap.limit for cap in metric.caps if cap.lowered and cap.applies_to in ("", WHOLE_SCORE)]
    remarks = (
        status_name(metric) if metric.status else "no score that counts",
        left_out if metric.status == pb.JUDGE_METRIC_STATUS_PARTIAL else "",
        f"capped at {min(limits):.3g}" if limits else "",
        f"confidence {metric.confidence:.2f}" if metric.HasField("confidence") else "",
    )
    return list(filter(None, remarks))


def input_text(value: pb.MetricInput) -> str:
    """Writes an input so that the score can be computed again."""
    words = {"number": f"{value.number:.6g}", "count": str(value.count), "flag": "yes" if value.flag else "no"}
    return words.get(value.WhichOneof("value") or "", value.text)
