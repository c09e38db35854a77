"""`precis calibrate` and `precis compare`: their options and help. The work is in `calibrate` and `compare`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from server.cli.agreement.terms import (
    MIDDLE_SCORE,
    CalibrateTerms,
    CompareTerms,
    check_kind,
    parse_scale,
)
from server.cli.errors import InputError
from server.cli.judge.floors import FrameworkChoice, MetricChoice, Policy, ScoreKind
from server.cli.options import (
    ConcurrencyOption,
    Connection,
    ItemTimeoutOption,
    JsonOption,
    NoLanguageModelOption,
    RunOptions,
    check_run,
    with_options,
)

FrameworkOption = Annotated[FrameworkChoice, typer.Option("--framework", "-f", help="Whose score.")]
MetricOption = Annotated[MetricChoice, typer.Option("--metric", "-m", help="Which score.")]
PolicyOption = Annotated[
    Policy, typer.Option("--policy", help="Whether statements count that may be true but are not in the source.")
]
ReportOption = Annotated[Path | None, typer.Option("--report", metavar="FILE.html", help="Write a page for people.")]
AnyModelsOption = Annotated[
    bool, typer.Option("--any-models", help="Use the calibration for judgements by other models too.")
]


@with_options
def calibrate(
    labels: Annotated[Path, typer.Argument(metavar="LABELS.jsonl|-", help="Summaries and what people say of them.")],
    *,
    framework: FrameworkOption = FrameworkChoice.ULTRA,
    metric: MetricOption = MetricChoice.HALLUCINATION,
    policy: PolicyOption = Policy.STRICT,
    scale: Annotated[
        str | None, typer.Option("--scale", metavar="LOW:HIGH", help="Scale of the labels; high is good.")
    ] = None,
    good_from: Annotated[
        float | None, typer.Option(metavar="LABEL", help="Least good label of --scale (default above the middle).")
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(min=0.01, max=1, metavar="SHARE", help="Share of good ones that the threshold must reach."),
    ] = None,
    no_llm: NoLanguageModelOption = False,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.json", help="Write the calibration here.")
    ] = None,
    report: ReportOption = None,
    results: Annotated[
        Path | None, typer.Option("--results", metavar="FILE.jsonl", help="Also write the judgements here.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep what --results holds for the same rows.")] = False,
    concurrency: ConcurrencyOption = 8,
    timeout_s: ItemTimeoutOption = 300.0,
    connection: Connection,
) -> None:
    """Measure how scores agree with people, and fit a threshold and a probability.

    [bold]LABELS.jsonl[/] holds {"id": ..., "source": ..., "summary": ..., "label": 1} a
    line; 1 is good, 0 is not. A label can also be a list or an object with one
    for each annotator, null for none; "category" is for a table by category.

    Reports Spearman's rho, AUC, accuracy, Cohen's kappa (between annotators too)
    and calibration error, with 95% bootstrap intervals over sources, and lists
    the summaries that people decide otherwise, with the claims that decided.
    Numbers of the fitted threshold and the probability are cross-validated.

    [bold]--policy lenient[/] gives back the points that a claim cost which the source
    neither supports nor contradicts; of hallucination alone.

    [bold]--output[/] writes what [bold]precis judge --calibration[/] applies: threshold, mapping,
    policy, and the models that it holds for.

    [bold]Examples[/]

      precis calibrate labels.jsonl -o calibration.json --report out.html

      precis calibrate ratings.jsonl --scale 1:5 --good-from 4 --precision 0.95

      precis judge items.jsonl --calibration calibration.json

    [bold]Exit codes[/]  0 done; 2 the input has to change, or is too small; 3 the server
    cannot be reached, is full or too slow; 4 anything else, such as rows that
    failed; 130 Ctrl+C.
    """
    terms = CalibrateTerms(
        kind=check_kind(ScoreKind(framework, metric, policy)),
        scale=parse_scale(scale, good_from),
        least_precision=precision,
        use_language_model=False if no_llm else None,
        output=output,
        report=report,
        as_json=as_json,
    )
    if resume and results is None:
        raise InputError("--resume needs --results: it goes on with the judgements there")
    options = RunOptions(output=results, resume=resume, concurrency=concurrency, timeout_s=timeout_s)
    check_run(options, [labels], output, report, is_bulk=True)
    from server.cli.agreement import calibrate as work

    asyncio.run(work.calibrate(labels, connection, terms, options))


@with_options
def compare(
    before: Annotated[Path, typer.Argument(metavar="A.jsonl", help="Results, or items to judge.")],
    after: Annotated[Path, typer.Argument(metavar="B.jsonl", help="The same items, later or otherwise.")],
    *,
    framework: FrameworkOption = FrameworkChoice.ULTRA,
    metric: MetricOption = MetricChoice.HALLUCINATION,
    policy: PolicyOption = Policy.STRICT,
    threshold: Annotated[
        float, typer.Option(min=0, max=10, metavar="SCORE", help="Summaries with this score pass.")
    ] = MIDDLE_SCORE,
    calibration: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Take score, policy and threshold from precis calibrate."),
    ] = None,
    any_models: AnyModelsOption = False,
    tolerance: Annotated[
        float, typer.Option(min=0, max=10, metavar="POINTS", help="How far the mean score may fall.")
    ] = 0.0,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, metavar="SHARE", help="Of the intervals and of the answer.")
    ] = 0.95,
    common: Annotated[bool, typer.Option("--common", help="Leave out items that only one file has.")] = False,
    no_llm: NoLanguageModelOption = False,
    as_json: JsonOption = False,
    report: ReportOption = None,
    concurrency: ConcurrencyOption = 8,
    timeout_s: ItemTimeoutOption = 300.0,
    connection: Connection,
) -> None:
    """Compare two sets of results: the mean difference, and what changed sides.

    Each file holds what [bold]precis judge items.jsonl --output[/] writes, or items with
    "source" and "summary", which are judged first. Items are matched by "id";
    "category" is for a table by category.

    The answer is a regression when the whole interval of the mean difference, a
    paired bootstrap over items, lies below minus --tolerance, or when an item that
    had a score has none any more. The judge abstains from a few of any summaries:
    these count when they have become more, at --confidence.

    [bold]Examples[/]

      precis compare before.jsonl after.jsonl --tolerance 0.1 --report out.html

      precis compare a.jsonl b.jsonl --calibration calibration.json --json

    [bold]Exit codes[/]  0 no regression; 1 a regression; 2 the input has to change; 3 the
    server cannot be reached, is full or too slow; 4 anything else; 130 Ctrl+C.
    """
    terms = CompareTerms(
        kind=check_kind(ScoreKind(framework, metric, policy)),
        threshold=threshold,
        calibration=calibration,
        takes_other_models=any_models,
        tolerance=tolerance,
        confidence=confidence,
        is_common=common,
        use_language_model=False if no_llm else None,
        report=report,
        as_json=as_json,
    )
    options = RunOptions(concurrency=concurrency, timeout_s=timeout_s)
    check_run(options, [path for path in (before, after, calibration) if path], report, is_bulk=True)
    from server.cli.agreement import compare as work

    asyncio.run(work.compare((before, after), connection, terms, options))
