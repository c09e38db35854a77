"""What two sets of scores amount to: the mean difference, how sure it is, which items changed sides or lost theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pipeline.agreement.bootstrap import Difference, paired_difference
from server.cli.agreement.terms import CompareTerms
from server.cli.errors import InputError
from server.cli.judge.calibration import Identity

ABSTAINED = "abstained"  # a status, in words


@dataclass
class Scores:
    """The scores of one file.

    Attributes:
        path: of the file.
        scores: by id; None where there is none that counts.
        categories: by id.
        identities: models behind them.
        statuses: by id, why there is no score.
    """

    path: Path
    scores: dict[str, float | None] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    identities: set[Identity] = field(default_factory=set)
    statuses: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """The scores of one item."""

    id: str
    category: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class LostScore:
    """An item that had a score, and has none that counts now.

    Attributes:
        id: of the item.
        category: of the item.
        first: the score that it had.
        passed: with that.
        status: why it has none.
    """

    id: str
    category: str
    first: float
    passed: bool
    status: str


@dataclass(frozen=True, slots=True)
class PairStudy:
    """What the pairs of a category amount to, or all of them.

    Attributes:
        category: empty for all.
        count: pairs.
        first_mean: of the first scores.
        second_mean: of the second scores.
        difference: second less first.
        wins: pairs with a higher second score.
        losses: pairs with a lower one.
        ties: pairs with equal scores.
        fixed: pairs that pass only now.
        broken: pairs that passed before.
    """

    category: str
    count: int
    first_mean: float
    second_mean: float
    difference: Difference
    wins: int
    losses: int
    ties: int
    fixed: int
    broken: int


@dataclass(frozen=True)
class ComparisonReport:
    """All that is shown of a comparison.

    Attributes:
        terms: how it was made; with kind and threshold of the calibration.
        whole: all pairs; None when every item lost its score.
        categories: in order of their names.
        flips: pairs that changed sides; those that passed before first, the greatest falls first.
        lost: items that have a score in the first file alone; the highest first.
        only_first: ids that the second file lacks.
        only_second: ids that the first file lacks.
        unscored: why items have no score that counts on one side or both, by id.
        abstains_more: whether the judge abstains from more items than before, at the confidence asked for.
        is_one_judge: whether the same models judged all that a model read.
    """

    terms: CompareTerms
    whole: PairStudy | None
    categories: Sequence[PairStudy]
    flips: Sequence[Pair]
    lost: Sequence[LostScore]
    only_first: Sequence[str]
    only_second: Sequence[str]
    unscored: Mapping[str, str]
    abstains_more: bool
    is_one_judge: bool

    @property
    def studies(self) -> list[PairStudy]:
        """All pairs, if there are any, then the categories."""
        return [*([self.whole] if self.whole else []), *self.categories]

    @property
    def has_fallen(self) -> bool:
        """Whether the mean fell by more than the tolerance, at the confidence asked for."""
        return self.whole is not None and self.whole.difference.estimate.high < -self.terms.tolerance

    @property
    def is_regression(self) -> bool:
        """Whether the mean fell, or items lost their scores, which no mean shows."""
        return self.has_fallen or bool(self.decisive)

    @property
    def decisive(self) -> Sequence[LostScore]:
        """Lost scores that are a regression: all, but for the few items of any summaries that the judge abstains from.

        It abstains from 0.9% of the summaries of QAGS-CNN and 5.2% of rank19's, good ones and bad ones.
        """
        counts_all = self.abstains_more or self.whole is None
        return [one for one in self.lost if counts_all or one.status != ABSTAINED]

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        terms = self.terms
        fallen = "Regression" if self.has_fallen else "No regression"
        of_mean = f"{fallen} beyond {terms.tolerance:g} points at {terms.confidence:.0%} confidence."
        if not self.decisive:
            return of_mean
        passed = sum(one.passed for one in self.decisive)
        lost = f"Regression: {len(self.decisive)} items lost their score; {passed} of them passed before."
        return f"{lost} Of the others: {of_mean}" if self.whole else f"{lost} No item has two scores."


def report_of(first: Scores, second: Scores, terms: CompareTerms) -> ComparisonReport:
    """Compares what both files have. Raises InputError when that is not all, or nothing."""
    only_first = sorted(first.scores.keys() - second.scores.keys())
    only_second = sorted(second.scores.keys() - first.scores.keys())
    if (only_first or only_second) and not terms.is_common:
        raise InputError(
            f"{len(only_first)} items are only in {first.path}, {len(only_second)} only in {second.path}: "
            "give --common to compare the others"
        )
    pairs, lost, unscored = [], [], {}
    for item_id in sorted(first.scores.keys() & second.scores.keys()):
        one, other = first.scores[item_id], second.scores[item_id]
        category = first.categories[item_id] or second.categories[item_id]
        if one is not None and other is not None:
            pairs.append(Pair(item_id, category, one, other))
            continue
        status = (first if one is None else second).statuses.get(item_id, "")
        unscored[item_id] = status
        if one is not None:
            lost.append(LostScore(item_id, category, one, one >= terms.threshold, status))
    if not pairs and not lost:
        raise InputError(f"{first.path} and {second.path} have no item with two scores")
    categories = sorted({pair.category for pair in pairs} - {""})
    flips = [pair for pair in pairs if (pair.first < terms.threshold) != (pair.second < terms.threshold)]
    return ComparisonReport(
        terms,
        study_pairs("", pairs, terms) if pairs else None,
        [study_pairs(name, [pair for pair in pairs if pair.category == name], terms) for name in categories],
        sorted(flips, key=lambda pair: (pair.second - pair.first, pair.id)),
        sorted(lost, key=lambda one: (-one.first, one.id)),
        only_first,
        only_second,
        unscored,
        abstains_more(first, second, terms.confidence),
        is_one_judge=len(first.identities | second.identities) <= 1,
    )


def abstains_more(first: Scores, second: Scores, confidence: float) -> bool:
    """Tells whether the judge abstains from more of the items in both files than it did, beyond chance."""
    common = sorted(first.scores.keys() & second.scores.keys())
    before, after = ([one.statuses.get(item_id) == ABSTAINED for item_id in common] for one in (first, second))
    return paired_difference(before, after, confidence).estimate.low > 0


def study_pairs(category: str, pairs: Sequence[Pair], terms: CompareTerms) -> PairStudy:
    """Counts and estimates."""
    first, second = [pair.first for pair in pairs], [pair.second for pair in pairs]
    passes = [(pair.first >= terms.threshold, pair.second >= terms.threshold) for pair in pairs]
    return PairStudy(
        category,
        len(pairs),
        sum(first) / len(pairs),
        sum(second) / len(pairs),
        paired_difference(first, second, terms.confidence),
        wins=sum(pair.second > pair.first for pair in pairs),
        losses=sum(pair.second < pair.first for pair in pairs),
        ties=sum(pair.second == pair.first for pair in pairs),
        fixed=passes.count((False, True)),
        broken=passes.count((True, False)),
    )


def to_fields(report: ComparisonReport) -> dict[str, Any]:
    """Gives the report as plain data."""
    terms = report.terms
    return {
        "framework": terms.kind.framework,
        "metric": terms.kind.metric,
        "policy": terms.kind.policy,
        "threshold": terms.threshold,
        "tolerance": terms.tolerance,
        "confidence": terms.confidence,
        "is_regression": report.is_regression,
        "is_one_judge": report.is_one_judge,
        "abstains_more": report.abstains_more,
        "all": asdict(report.whole) if report.whole else None,
        "categories": [asdict(one) for one in report.categories],
        "flips": [asdict(one) for one in report.flips],
        "lost": [asdict(one) for one in report.lost],
        "only_first": report.only_first,
        "only_second": report.only_second,
        "unscored": list(report.unscored),
    }
