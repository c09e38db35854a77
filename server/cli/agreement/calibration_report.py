"""What was learned from labelled summaries: measures, a fitted judge, and where it and people disagree."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from precis.v1 import evidence_pb2

from pipeline.agreement.bootstrap import Estimate
from pipeline.agreement.study import Study, study
from pipeline.errors import InvalidInputError
from server.cli.agreement.labels import LabelRow, digest_of, to_labelled
from server.cli.agreement.terms import CalibrateTerms
from server.cli.errors import InputError
from server.cli.files import to_json_fields
from server.cli.judge.calibration import Calibration, Identity, Measured

MEASURES = {
    "spearman": "Spearman's rho with the labels",
    "auc": "AUC: a good summary above a bad one",
    "accuracy_at_middle": "accuracy at 5 of 10",
    "balanced_accuracy_at_middle": "balanced accuracy at 5 of 10",
    "cohen_kappa_at_middle": "Cohen's kappa at 5 of 10",
    "precision_at_middle": "precision at 5 of 10",
    "recall_at_middle": "recall at 5 of 10",
    "accuracy": "accuracy at the fitted threshold",
    "balanced_accuracy": "balanced accuracy at the fitted threshold",
    "cohen_kappa": "Cohen's kappa at the fitted threshold",
    "precision": "precision at the fitted threshold",
    "recall": "recall at the fitted threshold",
    "human_kappa": "kappa between annotators",
    "ece_of_score": "calibration error of score / 10",
    "ece_of_probability": "calibration error of the probability",
}
"""Measures in words, in the order of their table."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A labelled summary with its score.

    Attributes:
        row: the summary.
        score: None when there is none that counts.
        status: what is special about it; empty when nothing is.
        claims: the worst ones.
    """

    row: LabelRow
    score: float | None
    status: str
    claims: list[evidence_pb2.Claim]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A summary that the threshold decides otherwise than people do.

    Attributes:
        id: of the row.
        category: of the row.
        label: mean of the annotators.
        score: under the policy.
        probability: that people call it good.
        passed: what the threshold says; people say the opposite.
        distance: from the threshold, in points.
        claims: the worst ones.
    """

    id: str
    category: str
    label: float
    score: float
    probability: float
    passed: bool
    distance: float
    claims: list[evidence_pb2.Claim]


@dataclass(frozen=True)
class CalibrationReport:
    """All that is shown of a calibration; `without_score` are rows that could not be used."""

    terms: CalibrateTerms
    calibration: Calibration
    study: Study
    disagreements: Sequence[Disagreement]
    without_score: Sequence[JudgedRow]


def report_of(judged: Sequence[JudgedRow], identity: Identity, terms: CalibrateTerms) -> CalibrationReport:
    """Measures and fits. Raises InputError when that cannot be done with these rows."""
    scored = [one for one in judged if one.score is not None]
    without_score = [one for one in judged if one.score is None]
    scale = terms.scale
    labelled = to_labelled([one.row for one in scored], [one.score or 0.0 for one in scored], scale)
    try:
        found = study(labelled, terms.least_precision)
    except InvalidInputError as error:
        raise InputError("; ".join([str(error), *left_out(without_score)])) from error
    models, language_model = identity
    calibration = Calibration(
        framework=terms.kind.framework,
        metric=terms.kind.metric,
        policy=terms.kind.policy,
        threshold=found.threshold,
        least_precision=terms.least_precision,
        mapping=found.mapping,
        models=models,
        language_model=language_model,
        row_count=len(scored),
        good_count=int(labelled.good.sum()),
        data_sha256=digest_of([one.row for one in judged], scale),
        measures={name: to_measured(one) for name, one in found.measures.items()},
    )
    return CalibrationReport(terms, calibration, found, disagreements_of(scored, calibration, terms), without_score)


def left_out(without_score: Sequence[JudgedRow]) -> Iterator[str]:
    """Says which rows had no score that counts."""
    for status, count in sorted(Counter(one.status for one in without_score).items()):
        yield f"{count} more have no score that counts: {status}"


def disagreements_of(
    scored: Sequence[JudgedRow], calibration: Calibration, terms: CalibrateTerms
) -> list[Disagreement]:
    """Lists the rows that the stored threshold decides wrongly, the farthest from it first."""
    found = []
    for one in scored:
        score, label = one.score or 0.0, one.row.label
        passed, distance = score >= calibration.threshold, abs(score - calibration.threshold)
        if passed != terms.scale.is_good(label):
            item, probability = one.row.item, calibration.probability(score)
            found.append(Disagreement(item.id, item.category, label, score, probability, passed, distance, one.claims))
    return sorted(found, key=lambda one: (-one.distance, one.id))


def to_measured(estimate: Estimate) -> Measured:
    """Rounds a measure for the file; the last bits of a sum differ between machines."""
    value, low, high = (
        None if math.isnan(number) else round(number, 6) for number in (estimate.value, estimate.low, estimate.high)
    )
    return Measured(value=value, low=low, high=high)


def to_fields(report: CalibrationReport) -> dict[str, Any]:
    """Gives the report as plain data."""
    found = report.study
    categories = [asdict(one) for one in found.categories]
    for category in categories:
        for name in ("auc", "balanced_accuracy"):
            category[name] = None if math.isnan(category[name]) else category[name]
    return {
        "calibration": report.calibration.model_dump(mode="json"),
        "fold_thresholds": found.fold_thresholds,
        "reliability_of_score": [asdict(one) for one in found.raw_bins],
        "reliability_of_probability": [asdict(one) for one in found.mapped_bins],
        "categories": categories,
        "disagreements": [
            {
                "id": one.id,
                "category": one.category,
                "label": one.label,
                "score": one.score,
                "probability": one.probability,
                "verdict": "pass" if one.passed else "fail",
                "claims": [to_json_fields(claim) for claim in one.claims],
            }
            for one in report.disagreements
        ],
        "without_score": [{"id": one.row.item.id, "status": one.status} for one in report.without_score],
    }
