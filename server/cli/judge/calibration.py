"""What `precis calibrate` learned, as a file: how a score becomes a probability and a verdict, and of which judge.

Also the policy: what a score is without the points that merely additional statements cost.
"""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb
from pydantic import Field

from pipeline.agreement.mapping import BEST_SCORE, PlattMapping, Score
from pipeline.errors import InvalidInputError, parse
from pipeline.frozen import FrozenModel
from server.cli.commands.judge import FrameworkChoice, MetricChoice, Policy, ScoreKind
from server.cli.errors import InputError
from server.cli.files import read_object
from server.cli.judge import names

SHOWN_CLAIMS = 3

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Field(max_length=1_000)]


class JudgeModel(FrozenModel):
    """A model that the scores come from."""

    name: Name
    revision: Name
    sha256: Sha256


Identity = tuple[tuple[JudgeModel, ...], str, str]
"""The models behind a judgement, the language model, and the rules."""


class Measured(FrozenModel):
    """A measure with its interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a calibration says of a summary; nothing when its metric has no score that counts."""

    score: float | None = None  # under the policy
    probability: float | None = None  # that people call it good
    verdict: Literal["pass", "fail", "none"] = "none"  # whether the score reaches the threshold


class Calibration(FrozenModel):
    """A fitted judge."""

    version: Literal[1] = 1  # of this format
    framework: FrameworkChoice
    metric: MetricChoice
    policy: Policy  # how unsupported statements count
    threshold: Score  # summaries with this score pass
    mapping: PlattMapping  # from score to the probability that people call a summary good
    models: tuple[JudgeModel, ...] = Field(max_length=10)
    language_model: Name  # that helped to judge; empty for none
    rules: Name = ""  # by which they judged; empty in files of before there was an identity of rules
    row_count: int = Field(ge=0)  # labelled summaries with a score
    good_count: int = Field(ge=0)  # of those, the good ones
    data_sha256: Sha256  # of ids, texts and labels
    measures: dict[Name, Measured] = Field(max_length=100)  # what was measured, see `docs/concepts/calibration.md`

    @property
    def kind(self) -> ScoreKind:
        """The score that it reads."""
        return ScoreKind(self.framework, self.metric, self.policy)

    @property
    def basis(self) -> str:
        """Says what a verdict rests on."""
        return f"pass from {self.threshold:g} of 10, fitted to {self.row_count} labelled summaries"

    def probability(self, score: float) -> float:
        """Returns the probability that people call a summary with this score good."""
        return float(self.mapping.probabilities(np.array([score]))[0])

    def verdict_of(self, result: pb.JudgeResult) -> Verdict:
        """Applies the calibration. Raises InputError for a judgement by others."""
        self.check(identity_of(result))
        score = score_of(result, self.kind)
        if score is None:
            return Verdict()
        return Verdict(score, self.probability(score), "pass" if score >= self.threshold else "fail")

    def check(self, identity: Identity | None) -> None:
        """Refuses models and rules of a judgement that are not those of the calibration. Raises InputError."""
        fitted: Identity = (self.models, self.language_model, self.rules)
        if identity is not None and identity != fitted:
            made, found = (
                names.models_said(models, writer or "no language model", f"rules {rules[:8] or 'unknown'}")
                for models, writer, rules in (fitted, identity)
            )
            raise InputError(f"--calibration was made with {made}, and this judgement with {found}: calibrate again")


def read_calibration(path: Path | None) -> Calibration | None:
    """Reads a file of `precis calibrate --output`; None for none. Raises InputError."""
    if path is None:
        return None
    try:
        return parse(Calibration, read_object(path), "")
    except InvalidInputError as error:
        raise InputError(f"{path}: {error}; write it with precis calibrate --output") from error


def identity_of(result: pb.JudgeResult) -> Identity | None:
    """Names the models behind a judgement, and the rules; None when no model read the texts."""
    if names.is_unread(result):
        return None
    models = (JudgeModel(name=one.name, revision=one.revision, sha256=one.sha256) for one in result.models)
    return tuple(models), result.language_model, result.rules


def find_metric(result: pb.JudgeResult, kind: ScoreKind) -> pb.JudgeMetric | None:
    """Finds a metric; None when its framework did not judge."""
    wanted = (kind.framework, kind.metric)
    return next((metric for *words, metric in names.metrics_of(result) if tuple(words) == wanted), None)


def score_of(result: pb.JudgeResult, kind: ScoreKind) -> float | None:
    """Returns a score under its policy; None when there is none that counts.

    The lenient score is 10 - (10 - score) * (1 - neutral / all). Both are sums of doubt, 1 - probability: over the
    neutral claims, and over all. Every claim bears its share of the lost points, and neutral ones get theirs back.
    """
    metric = find_metric(result, kind)
    score = None if metric is None else names.counting_score(metric)
    if score is None or kind.policy == "strict":
        return score
    doubts = [(1 - claim.probability, is_neutral(claim)) for claim in result.evidence.claims]
    total = sum(doubt for doubt, _ in doubts)
    neutral = sum(doubt for doubt, is_given_back in doubts if is_given_back)
    return BEST_SCORE - (BEST_SCORE - score) * (1 - neutral / total) if neutral > 0 else score


def is_neutral(claim: evidence_pb2.Claim) -> bool:
    """Tells whether the source says neither that a claim is true nor anything against it, not even in one word."""
    return not (
        names.is_supported(claim)
        or claim.contradiction >= names.LEAST_CONTRADICTION
        or any(mismatch.HasField("source") for mismatch in claim.mismatches)
    )


def worst_claims(result: pb.JudgeResult, policy: Policy) -> list[evidence_pb2.Claim]:
    """Copies the claims that cost most, at most 3; those that the policy forgives come last."""

    def badness(claim: evidence_pb2.Claim) -> tuple[bool, int, float]:
        return policy == "lenient" and is_neutral(claim), -claim.label, claim.probability

    # Copies, for a part would keep the whole result in memory.
    return [deepcopy(claim) for claim in sorted(result.evidence.claims, key=badness)[:SHOWN_CLAIMS]]
