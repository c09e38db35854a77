"""`precis calibrate`: judges labelled summaries, measures agreement, and fits a threshold and a mapping to labels."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console
from rich.text import Text

from pipeline.agreement.measures import ReliabilityBin
from pipeline.agreement.reader_study import ReadClaims, study_second_reader
from pipeline.agreement.study import Labelled, Study, study
from pipeline.errors import InvalidInputError
from pipeline.judge.second_reader import SecondReader
from server.cli.bulk import run_bulk
from server.cli.commands.agreement import CalibrateOptions
from server.cli.commands.judge import JudgeOptions
from server.cli.console import (
    SHOWN_ITEMS,
    Grid,
    indented,
    note_files,
    number,
    output_console,
    print_grids,
    print_note,
    print_result,
    shown,
    to_json_document,
    to_list,
)
from server.cli.errors import InputError
from server.cli.files import read_rows, to_json_fields, write_result
from server.cli.judge import calibration
from server.cli.judge.judgements import Item, JudgeAnswer, to_item, to_work
from server.cli.judge.names import status_name
from server.cli.judge.table import claim_text, label_text
from server.cli.options import Connection, RunOptions
from server.cli.page.render import render_page
from server.cli.tally import FailedItem, check_failed, print_failed

MAX_ANNOTATORS, MOST_LABEL = 50, 1e6
PAGE_DISAGREEMENTS = 200
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


async def calibrate(path: Path, connection: Connection, options: CalibrateOptions, run: RunOptions) -> None:
    """Reads, judges, measures, writes, prints; `run` is of the judging alone. Raises CliError."""
    rows = read_labels(path, is_binary=options.good_from is None)
    answers = JudgedRows(options, {row.item.id: row for row in rows})
    judging = JudgeOptions([options.framework], no_llm=options.no_llm)
    items = iter([(row.item.id, row.item) for row in rows]), len(rows)
    work = to_work(judging, is_bulk=True, second_reading=options.second_reader is not None or None)
    await run_bulk(work, items, connection, run, answers.add)
    if not options.as_json:
        print_failed(output_console(), answers.failed)
    report = answers.report()
    claims, llm = answers.single_claims(), report.calibration.language_model
    found = second_reader_of(claims, llm) if options.second_reader else None
    write_result(options.report, lambda: render_calibration(report))
    write_result(options.output, lambda: to_json_document(report.calibration.model_dump(mode="json")))
    print_result(report, to_fields, print_calibration, as_json=options.as_json)
    if found is not None:
        words, reader = found
        print_note(words)
        if reader is not None:
            write_result(options.second_reader, partial(to_json_document, reader.model_dump(mode="json")))
            note_files(second_reader=options.second_reader)
    note_files(calibration=options.output, report=options.report)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A summary with its labels; `ratings` are by annotator."""

    item: Item
    ratings: Mapping[str, float]

    @property
    def label(self) -> float:
        """The mean of the annotators' labels."""
        return fmean(self.ratings.values())


def read_labels(path: Path, *, is_binary: bool) -> list[LabelRow]:
    """Reads all rows, in order of their ids. Raises InputError that names line and field."""

    def parse(fields: dict[str, Any], place: str) -> LabelRow:
        item = to_item(fields, place)
        for name in ("source", "summary"):
            if not any(map(str.isalnum, getattr(item, name))):
                raise InputError(f"{name}: expected a text with a letter or a digit")
        return LabelRow(item, read_ratings(fields.get("label"), is_binary=is_binary))

    return sorted(read_rows(path, parse), key=lambda row: row.item.id)


def read_ratings(label: object, *, is_binary: bool) -> dict[str, float]:
    """Reads one label, a list with a place for each annotator, or an object of annotators. Raises InputError."""
    match label:
        case list():
            named = {f"annotator {number}": value for number, value in enumerate(label, start=1)}
        case dict():
            named = {str(name): value for name, value in label.items()}
        case _:
            return {"": to_rating("label", label, is_binary=is_binary)}
    if len(named) > MAX_ANNOTATORS:
        raise InputError(f"label: more than {MAX_ANNOTATORS} annotators")
    given = {name: value for name, value in named.items() if value is not None}
    ratings = {name: to_rating(f"label[{name}]", value, is_binary=is_binary) for name, value in given.items()}
    if not ratings:
        raise InputError("label: expected at least one that is not null")
    return ratings


def to_rating(place: str, value: object, *, is_binary: bool) -> float:
    """Reads one annotator's label. Raises InputError."""
    if isinstance(value, int | float):
        if value in (0, 1) if is_binary else abs(value) < MOST_LABEL:
            return float(value)
        hint, found = "; for other labels give --good-from" if is_binary else "", f"{value}"[:40]
    else:
        hint, found = "", "nothing" if value is None else type(value).__name__
    raise InputError(f"{place}: expected {'0 or 1' if is_binary else 'a number'}, got {found}{hint}")


def to_labelled(rows: Sequence[LabelRow], scores: Sequence[float], is_good: Callable[[float], bool]) -> Labelled:
    """Puts rows and their scores into arrays."""
    annotators = sorted({name for row in rows for name in row.ratings})
    given = ([row.ratings.get(name, math.nan) for name in annotators] for row in rows)
    ratings = [[one if math.isnan(one) else float(is_good(one)) for one in row] for row in given]
    return Labelled(
        scores=np.array(scores, dtype=np.float64),
        labels=np.array([row.label for row in rows]),
        good=np.array([is_good(row.label) for row in rows], dtype=np.bool_),
        ratings=np.array(ratings).reshape(len(rows), len(annotators)),
        groups=_groups(row.item.source for row in rows),
    )


def _groups(sources: Iterable[str]) -> NDArray[np.intp]:
    """Numbers sources, equal ones alike."""
    return np.unique([hashlib.sha256(one.encode()).hexdigest() for one in sources], return_inverse=True)[1]


def digest_of(rows: Sequence[LabelRow], good_from: float | None) -> str:
    """Hashes what was learned from, in hexadecimal; the order of the lines does not count."""
    digest = hashlib.sha256(json.dumps(good_from).encode())
    for row in rows:
        fields = [row.item.id, row.item.source, row.item.summary, sorted(row.ratings.items())]
        digest.update(json.dumps(fields).encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A labelled summary with its score."""

    row: LabelRow  # the summary
    score: float  # under the policy; NaN when there is none that counts
    status: str  # what is special about it; empty when nothing is
    claims: list[evidence_pb2.Claim]  # the worst ones
    only: evidence_pb2.Claim | None  # the claim of a summary that has one


@dataclass
class JudgedRows:
    """Collects what is needed of the answers; never the judgements themselves."""

    options: CalibrateOptions
    rows: Mapping[str, LabelRow]
    judged: dict[str, JudgedRow] = field(default_factory=dict)
    identities: set[calibration.Identity] = field(default_factory=set)
    failed: list[FailedItem] = field(default_factory=list)

    def add(self, answer: JudgeAnswer) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.append((answer.id, answer.error))
        elif (result := answer.result) is not None:
            kind = self.options
            status = status_name(calibration.find_metric(result, kind) or pb.JudgeMetric())
            score, claims = calibration.score_of(result, kind), calibration.worst_claims(result, kind.policy)
            row, told = self.rows[answer.id], result.evidence.claims
            only = told[0] if len(told) == 1 else None
            self.judged[answer.id] = JudgedRow(row, math.nan if score is None else score, status, claims, only)
            if (identity := calibration.identity_of(result)) is not None:
                self.identities.add(identity)

    def single_claims(self) -> "list[LabelledClaim]":
        """The claims of summaries that have only one: what a label says of the summary, it says of them."""
        return [
            LabelledClaim(one.only, one.row.item.source, self.options.is_good(one.row.label))
            for one in self.judged.values()
            if one.only is not None
        ]

    def report(self) -> "CalibrationReport":
        """Measures and fits. Raises CliError when rows failed, or nothing can be learned from them."""
        check_failed(self.failed, len(self.rows))
        if len(self.identities) > 1:
            raise InputError("the results come from different models or rules: leave out --resume to judge all anew")
        models, language_model, rules = next(iter(self.identities), ((), "", ""))
        options, judged = self.options, [self.judged[row_id] for row_id in self.rows]
        scored = [one for one in judged if not math.isnan(one.score)]
        without_score = [one for one in judged if math.isnan(one.score)]
        counts = sorted(Counter(one.status for one in without_score).items())
        left_out = [f"{count} more have no score that counts: {status}" for status, count in counts]
        labelled = to_labelled([one.row for one in scored], [one.score for one in scored], options.is_good)
        try:
            found = study(labelled)
        except InvalidInputError as error:
            raise InputError("; ".join([str(error), *left_out])) from error
        fitted = calibration.Calibration(
            framework=options.framework,
            metric=options.metric,
            policy=options.policy,
            threshold=found.threshold,
            mapping=found.mapping,
            models=models,
            language_model=language_model,
            rules=rules,
            row_count=len(scored),
            good_count=int(labelled.good.sum()),
            data_sha256=digest_of([one.row for one in judged], options.good_from),
            measures={  # rounded, for the last bits of a sum differ between machines
                name: calibration.Measured(
                    **{part: None if math.isnan(number) else round(number, 6) for part, number in asdict(one).items()}
                )
                for name, one in found.measures.items()
            },
        )
        disagreements = list(compress(scored, (labelled.scores >= found.threshold) != labelled.good))
        disagreements.sort(key=lambda one: (-abs(one.score - found.threshold), one.row.item.id))
        return CalibrationReport(fitted, found, disagreements, without_score, left_out)


@dataclass(frozen=True)
class CalibrationReport:
    """All that is shown of a calibration."""

    calibration: calibration.Calibration  # what was fitted
    study: Study  # what was measured
    # summaries that the threshold decides otherwise than people; the farthest from it first
    disagreements: Sequence[JudgedRow]
    without_score: Sequence[JudgedRow]  # rows that could not be used
    left_out: Sequence[str]  # says which these are, a line for each reason

    def words_of(self, one: JudgedRow) -> str:
        """Says what the judge and what people say of a summary."""
        verb = "passes" if one.score >= self.calibration.threshold else "fails"
        probability = self.calibration.probability(one.score)
        return f"{verb} with {one.score:.2f} (probability {probability:.2f}); people say {one.row.label:g}"

    def fields_of(self, one: JudgedRow) -> dict[str, Any]:
        """Gives a disagreement as plain data."""
        return {
            "id": one.row.item.id,
            "label": one.row.label,
            "score": one.score,
            "probability": self.calibration.probability(one.score),
            "verdict": "pass" if one.score >= self.calibration.threshold else "fail",
            "claims": [to_json_fields(claim) for claim in one.claims],
        }

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
        rows = []
        for one in self.study.mapped_bins if bins is None else bins:
            shares = (number(one.mean_probability, 3), number(one.good_share, 3))
            rows.append((f"{one.low:.1f} to {one.high:.1f}", str(one.count), *shares))
        return Grid(("probability", ">rows", ">mean", ">good"), rows)

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


def to_fields(report: CalibrationReport) -> dict[str, Any]:
    """Gives the report as plain data; what is not defined is null."""
    found = report.study
    return {
        "calibration": report.calibration.model_dump(mode="json"),
        "fold_thresholds": found.fold_thresholds,
        "reliability_of_score": [asdict(one) for one in found.raw_bins],
        "reliability_of_probability": [asdict(one) for one in found.mapped_bins],
        "disagreements": [report.fields_of(one) for one in report.disagreements],
        "without_score": [{"id": one.row.item.id, "status": one.status} for one in report.without_score],
    }


def render_calibration(report: CalibrationReport) -> str:
    """Renders the page."""
    title, worst = f"Calibration of {report.calibration.kind}", report.disagreements[:PAGE_DISAGREEMENTS]
    return render_page("calibration.html", title=title, report=report, disagreements=worst)


def print_calibration(console: Console, report: CalibrationReport) -> None:
    """Prints the measures, what was fitted, and the worst disagreements with what decided."""
    fitted, found = report.calibration, report.disagreements
    bad_count = fitted.row_count - fitted.good_count
    said = f"{fitted.kind}: {fitted.good_count} good and {bad_count} bad summaries"
    print_grids(console, said, report.left_out, report.measure_grid, report.reliability_grid())
    console.print(Text(f"Pass from {fitted.threshold:g} of 10; {report.mapping_words}", style="bold"))
    console.print(Text(f"{report.fold_words}\n", style="dim"))
    if not found:
        console.print(Text("The threshold decides every summary as people do.", style="green"))
        return
    rest = f", the {SHOWN_ITEMS} worst" if len(found) > SHOWN_ITEMS else ""
    console.print(Text(f"{len(found)} summaries that people decide otherwise{rest}", style="bold"))
    for one in found[:SHOWN_ITEMS]:
        console.print(Text.assemble(shown(one.row.item.id, limit=80, style="bold"), f"  {report.words_of(one)}"))
        console.print(indented(to_list((label_text(claim), claim_text(claim)) for claim in one.claims), below=1))


class LabelledClaim(NamedTuple):
    """The only claim of a labelled summary."""

    claim: evidence_pb2.Claim
    source: str
    is_good: bool


def second_reader_of(claims: Sequence[LabelledClaim], language_model: str) -> tuple[str, SecondReader | None]:
    """Returns what was found in words, and the reader to write; None where it brings no gain.

    Raises:
        InputError: no claim was read again, or there are too few.
    """
    verdicts = [
        float(one.claim.second_reading.is_supported) if one.claim.HasField("second_reading") else math.nan
        for one in claims
    ]
    if not language_model or all(map(math.isnan, verdicts)):
        raise InputError("--second-reader: no language model has read a claim; set llm.base_url and llm.model")
    read = ReadClaims(
        np.array([one.claim.probability for one in claims]),
        np.array(verdicts),
        np.array([one.is_good for one in claims], dtype=np.bool_),
        _groups(one.source for one in claims),
    )
    try:
        found = study_second_reader(read, language_model)
    except InvalidInputError as error:
        raise InputError(f"--second-reader: {error}") from error
    words = (
        f"second reader, {len(claims)} claims: balanced accuracy {found.before} alone, {found.after} with it; "
        f"gain {found.gain}"
    )
    if not found.helps:
        return f"{words}: none beyond chance, so nothing was written", None
    reader, measured = found.reader, {"claims": len(claims), "asked_share": found.asked_share}
    for name, one in (("before", found.before), ("after", found.after), ("gain", found.gain)):
        measured |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
    rounded = {name: round(value, 6) for name, value in measured.items()}
    asked = f"it reads claims from {reader.low:g} to {reader.high:g}, {found.asked_share:.0%} of these"
    return f"{words}; {asked}", reader.model_copy(update={"measured": rounded})
