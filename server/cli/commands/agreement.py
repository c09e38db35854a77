"""`precis calibrate` and `precis compare`: their options and help. The work is in `server/cli/agreement`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from server.cli.commands.judge import ScoreKind
from server.cli.errors import InputError
from server.cli.options import (
    ConcurrencyOption,
    Connection,
    ItemTimeoutOption,
    JsonOption,
    NoLanguageModelOption,
    ReportOption,
    RunOptions,
    check_files,
    check_run,
    command,
    exit_codes,
)


@dataclass(frozen=True)
class ScoreOptions(ScoreKind):
    """Which score `precis calibrate` and `precis compare` take, and how they show what they found."""

    as_json: JsonOption = False
    report: ReportOption = None


@dataclass(frozen=True)
class CalibrateOptions(ScoreOptions):
    """How `precis calibrate` has summaries judged, measures and fits."""

    no_llm: NoLanguageModelOption = False
    concurrency: ConcurrencyOption = 8
    timeout_s: ItemTimeoutOption = 300.0
    good_from: Annotated[
        float | None, Option(metavar="LABEL", help="Labels are any numbers, good ones from here on (default 0 or 1).")
    ] = None
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE.json", help="Write the calibration here.")
    ] = None
    second_reader: Annotated[
        Path | None,
        Option(
            metavar="FILE.json", help="Have the language model read all claims too, and write what it is worth here."
        ),
    ] = None
    results: Annotated[Path | None, Option(metavar="FILE.jsonl", help="Also write the judgements here.")] = None
    resume: Annotated[bool, Option("--resume", help="Keep what --results holds for the same rows.")] = False

    def is_good(self, label: float) -> bool:
        """Tells what a label means: of two annotators who say 0 and 1 both must say so."""
        return label > 1 / 2 if self.good_from is None else label >= self.good_from


@dataclass(frozen=True)
class CompareOptions(ScoreOptions):
    """How `precis compare` compares; score and threshold are those of the calibration, if there is one."""

    threshold: Annotated[float, Option(min=0, max=10, metavar="SCORE", help="Summaries with this score pass.")] = 5.0
    calibration: Annotated[
        Path | None, Option(metavar="FILE.json", help="Take score, policy and threshold from precis calibrate.")
    ] = None
    tolerance: Annotated[float, Option(min=0, max=10, metavar="POINTS", help="How far the mean score may fall.")] = 0.0


@command(
    "precis calibrate labels.jsonl -o calibration.json --report out.html",
    "precis calibrate ratings.jsonl --good-from 4",
    "precis judge items.jsonl --calibration calibration.json",
    exits=exit_codes(other="rows that failed"),
)
async def calibrate(
    labels: Annotated[Path, Argument(metavar="LABELS.jsonl|-", help="Summaries and what people say of them.")],
    *,
    options: CalibrateOptions,
    connection: Connection,
) -> None:
    """Measure how scores agree with people, and fit a threshold and a probability.

    [bold]LABELS.jsonl[/] holds {"id": ..., "source": ..., "summary": ..., "label": 1} a
    line; 1 is good, 0 is not. A label can also be a list or an object with one
    for each annotator, null for none.

    Reports Spearman's rho, AUC, accuracy, Cohen's kappa (between annotators too)
    and calibration error, with 95% bootstrap intervals over sources. Lists the
    summaries that people decide otherwise, with the claims that decided. Numbers of
    the fitted threshold and the probability are cross-validated.

    [bold]--output[/] writes what [bold]precis judge --calibration[/] applies: threshold, mapping,
    policy, and the models that it holds for.

    [bold]--second-reader[/] measures whether the server's language model helps where the NLI
    model is unsure, on summaries of one claim. Without a gain nothing is written. The
    setting judge.second_reader takes the file.
    """
    if options.resume and options.results is None:
        raise InputError("--resume needs --results: it goes on with the judgements there")
    run = RunOptions(
        output=options.results, resume=options.resume, concurrency=options.concurrency, timeout_s=options.timeout_s
    )
    check_run(run, [labels], options.output, options.report, options.second_reader, is_bulk=True)
    from server.cli.agreement import calibrate as work

    await work.calibrate(labels, connection, options, run)


@command(
    "precis compare before.jsonl after.jsonl --tolerance 0.1 --report out.html",
    "precis compare a.jsonl b.jsonl --calibration calibration.json --json",
    exits="0 no regression; 1 a regression; 2 the input has to change; 4 anything else.",
)
def compare(
    before: Annotated[Path, Argument(metavar="A.jsonl", help="Results.")],
    after: Annotated[Path, Argument(metavar="B.jsonl", help="Those of the same items, later or otherwise.")],
    *,
    options: CompareOptions,
) -> None:
    """Compare two sets of results: the mean difference, and what changed sides. Asks no server.

    Each file holds what [bold]precis judge items.jsonl --output[/] writes. Items are
    matched by "id".

    The answer is a regression when the whole 95% interval of the mean difference, a
    paired bootstrap over items, lies below minus --tolerance. It also is when an
    item that had a score has none any more. The judge abstains from a few of any
    summaries: these count when they have become more, beyond chance.
    """
    check_files([path for path in (before, after, options.calibration) if path], options.report)
    from server.cli.agreement import compare as work

    work.compare((before, after), options)
