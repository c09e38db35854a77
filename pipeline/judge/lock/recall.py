"""How many key points a summary tells, for Coverage."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from pipeline.judge.arithmetic.means import harmonic_mean
from pipeline.judge.errors import MetricError
from pipeline.judge.evidence.table import Covered, EvidenceTable, KeyPoint
from pipeline.judge.framework import Json
from pipeline.judge.lock.citation import cite_first, count
from pipeline.judge.lock.extraneous import precision_of
from pipeline.judge.metric import Input
from pipeline.text.passage import Passage


@dataclass(frozen=True, slots=True)
class Recall:
    """Key points by how much of them the summary tells. There is at least one."""

    key_points: tuple[KeyPoint, ...]
    fully: int
    partial: int

    @classmethod
    def of(cls, key_points: Sequence[KeyPoint]) -> Self:
        """Counts key points.

        Raises:
            MetricError: there is none.
        """
        if not key_points:
            raise MetricError("no_key_points: the source states nothing that a summary could cover")
        covered = [point.covered for point in key_points]
        return cls(tuple(key_points), covered.count(Covered.FULLY), covered.count(Covered.PARTIAL))

    @property
    def value(self) -> Fraction:
        """Returns (fully + partial / 2) / all, in [0, 1]."""
        return Fraction(2 * self.fully + self.partial, 2 * len(self.key_points))

    @property
    def inputs(self) -> dict[str, Input]:
        """The counts, under the seed's names."""
        missed = len(self.key_points) - self.fully - self.partial
        return {
            "total_keypoints": len(self.key_points),
            "fully": self.fully,
            "partial": self.partial,
            "not": missed,
            "recall": float(self.value),
        }

    @property
    def evidence(self) -> tuple[Passage, ...]:
        """What was missed first, then what was told and where."""
        missed = [point.passage for point in self.key_points if point.covered is Covered.NOT]
        told = [point for point in self.key_points if point.covered is not Covered.NOT]
        return (*missed, *(place for point in told for place in (point.passage, point.best) if place is not None))

    @property
    def sentence(self) -> str:
        """Says how much was told, and cites what was not."""
        told = f"The summary tells {self.fully} of {count(len(self.key_points), 'key point')} fully"
        if self.partial:
            told += f" and {self.partial} in part"
        missed = [point.passage for point in self.key_points if point.covered is Covered.NOT]
        omitted = f" It omits {cite_first(missed)}." if missed else ""
        return f"{told} (recall {float(self.value):.2f}).{omitted}"

    @property
    def list(self) -> list[Json]:
        """The key points as the JSON object shows them."""
        return [
            {"point": point.passage.text, "label": point.covered.value.capitalize(), "covered": point.covered_share}
            for point in self.key_points
        ]


@dataclass(frozen=True, slots=True)
class FScore:
    """Precision, recall and their harmonic mean."""

    recall: Recall
    precision: Fraction
    extraneous_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, table: EvidenceTable, key_points: Sequence[KeyPoint]) -> Self:
        """Reads a table. Raises MetricError without key points."""
        recall = Recall.of(key_points)
        return cls(recall, precision_of(table), table.extraneous_token_count, table.summary_token_count)

    @property
    def value(self) -> Fraction:
        """F1, in [0, 1]."""
        return harmonic_mean(self.precision, self.recall.value)

    @property
    def inputs(self) -> dict[str, Input]:
        """The numbers, under the seed's names."""
        return {
            **self.recall.inputs,
            "extraneous_tokens": self.extraneous_tokens,
            "total_summary_tokens": self.total_tokens,
            "precision": float(self.precision),
            "f1": float(self.value),
        }

    @property
    def sentence(self) -> str:
        """Says how precise the summary is, and what F1 follows."""
        carried = f"{self.extraneous_tokens} of its {count(self.total_tokens, 'content token')} have no support"
        if not self.extraneous_tokens:
            carried = "all of its content tokens have support"
        return f"Of what it says, {carried} (precision {float(self.precision):.2f}), so F1 is {float(self.value):.2f}."
