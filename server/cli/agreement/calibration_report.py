"""What was learned from labelled summaries: measures, a fitted judge, and where it and people disagree."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from precis.v1 import evidence_pb2

from pipeline.agreement.bootstrap import Estimate
from pipeline.agreement.measures import ReliabilityBin
from pipeline.agreement.study import Study, study
from pipeline.errors import InvalidInputError
from server.cli.agreement.labels import LabelRow, digest_of, to_labelled
from server.cli.agreement.terms import CalibrateOptions, Scale
from server.cli.console import Grid, number
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
        verdict: what the threshold says, "pass" or "fail"; people say the opposite.
        claims: the worst ones.
    """

    id: str
    category: str
    label: float
    score: float
    probability: float
    verdict: str
    claims: list[evidence_pb2.Claim]


@dataclass(frozen=True)
class CalibrationReport:
    """All that is shown of a calibration; `without_score` are rows that could not be used."""

    calibration: Calibration
    study: Study
    disagreements: Sequence[Disagreement]
    without_score: Sequence[JudgedRow]

    @property
    def left_out(self) -> list[str]:
        """Says which rows had no score that counts."""
        return left_out(self.without_score)

    @property
    def measure_grid(self) -> Grid:
        """The measures with their intervals; what is not defined is left out."""
        found = [(words, self.calibration.measures[name]) for name, words in MEASURES.items()]
        rows = [
            (words, number(one.value, 3), "-" if one.low is None else f"{one.low:.3f} to {number(one.high, 3)}")
            for words, one in found
            if one.value is not None
        ]
        return Grid(("agreement with people", ">value", ">95% interval"), rows)

    def reliability_grid(self, bins: Sequence[ReliabilityBin] | None = None) -> Grid:
        """What probabilities promise and what people say, by bins; without these of the fitted probability."""
        rows = [
            (
                f"{one.low:.1f} to {one.high:.1f}",
                str(one.count),
                number(one.mean_probability, 3),
                number(one.good_share, 3),
            )
            for one in (self.study.mapped_bins if bins is None else bins)
        ]
        return Grid(("probability", ">rows", ">mean", ">good"), rows)

    @property
    def category_grid(self) -> Grid:
        """The categories."""
        rows = [
            (one.category, str(one.count), str(one.good_count), number(one.auc, 3), number(one.balanced_accuracy, 3))
            for one in self.study.categories
        ]
        return Grid(("category", ">rows", ">good", ">AUC", ">balanced accuracy"), rows)

    @property
    def mapping_words(self) -> str:
        """Says which mapping was fitted."""
        mapping = self.calibration.mapping
        return f"probability 1 / (1 + exp(-({mapping.slope:.4g} * score {mapping.intercept:+.4g})))"

    @property
    def fold_words(self) -> str:
        """Says how much the threshold depends on the rows."""
        thresholds = self.study.fold_thresholds
        return (
            f"Measures of the fitted threshold and of the probability are of rows whose sources were held out; "
            f"thresholds of the {len(thresholds)} folds: {min(thresholds):g} to {max(thresholds):g}."
        )


def report_of(judged: Sequence[JudgedRow], identity: Identity, options: CalibrateOptions) -> CalibrationReport:
    """Measures and fits. Raises InputError when that cannot be done with these rows."""
    scored = [(one, one.score) for one in judged if one.score is not None]
    without_score = [one for one in judged if one.score is None]
    scale = options.scale
    labelled = to_labelled([one.row for one, _ in scored], [score for _, score in scored], scale)
    try:
        found = study(labelled, options.precision)
    except InvalidInputError as error:
        raise InputError("; ".join([str(error), *left_out(without_score)])) from error
    models, language_model = identity
    calibration = Calibration(
        framework=options.framework,
        metric=options.metric,
        policy=options.policy,
        threshold=found.threshold,
        least_precision=options.precision,
        mapping=found.mapping,
        models=models,
        language_model=language_model,
        row_count=len(scored),
        good_count=int(labelled.good.sum()),
        data_sha256=digest_of([one.row for one in judged], scale),
        measures={name: to_measured(one) for name, one in found.measures.items()},
    )
    return CalibrationReport(calibration, found, disagreements_of(scored, calibration, scale), without_score)


def left_out(without_score: Sequence[JudgedRow]) -> list[str]:
    """Says which rows had no score that counts."""
    counts = Counter(one.status for one in without_score)
    return [f"{count} more have no score that counts: {status}" for status, count in sorted(counts.items())]


def disagreements_of(
    scored: Sequence[tuple[JudgedRow, float]], calibration: Calibration, scale: Scale
) -> list[Disagreement]:
    """Lists the rows that the stored threshold decides wrongly, the farthest from it first."""
    found = []
    for one, score in scored:
        item, label, passed = one.row.item, one.row.label, score >= calibration.threshold
        if passed != scale.is_good(label):
            verdict, probability = "pass" if passed else "fail", calibration.probability(score)
            found.append(Disagreement(item.id, item.category, label, score, probability, verdict, one.claims))
    return sorted(found, key=lambda one: (-abs(one.score - calibration.threshold), one.id))


def to_measured(estimate: Estimate) -> Measured:
    """Rounds a measure for the file; the last bits of a sum differ between machines."""
    value, low, high = (
        None if math.isnan(one) else round(one, 6) for one in (estimate.value, estimate.low, estimate.high)
    )
    return Measured(value=value, low=low, high=high)


def to_fields(report: CalibrationReport) -> dict[str, Any]:
    """Gives the report as plain data; what is not defined is null."""
    found = report.study
    disagreements = [
        asdict(one) | {"claims": [to_json_fields(claim) for claim in one.claims]} for one in report.disagreements
    ]
    categories = [
        {name: None if value != value else value for name, value in asdict(one).items()}  # noqa: PLR0124 - NaN alone
        for one in found.categories
    ]
    return {
        "calibration": report.calibration.model_dump(mode="json"),
        "fold_thresholds": found.fold_thresholds,
        "reliability_of_score": [asdict(one) for one in found.raw_bins],
        "reliability_of_probability": [asdict(one) for one in found.mapped_bins],
        "categories": categories,
        "disagreements": disagreements,
        "without_score": [{"id": one.row.item.id, "status": one.status} for one in report.without_score],
    }
