"""`precis calibrate` and `precis compare`: their help. The work is in `calibrate` and `compare`."""

import asyncio
from pathlib import Path
from typing import Annotated

from typer import Argument

from server.cli.agreement.terms import CalibrateOptions, CompareOptions
from server.cli.errors import InputError
from server.cli.options import Connection, RunOptions, check_outputs, check_run, command, exit_codes


@command(
    "precis calibrate labels.jsonl -o calibration.json --report out.html",
    "precis calibrate ratings.jsonl --scale 1:5 --good-from 4 --precision 0.95",
    "precis judge items.jsonl --calibration calibration.json",
    exits=exit_codes(other="rows that failed"),
)
def calibrate(
    labels: Annotated[Path, Argument(metavar="LABELS.jsonl|-", help="Summaries and what people say of them.")],
    *,
    options: CalibrateOptions,
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
    """
    _ = options.kind, options.scale  # what is wrong with them is said before anything is read
    if options.resume and options.results is None:
        raise InputError("--resume needs --results: it goes on with the judgements there")
    run = RunOptions(
        output=options.results, resume=options.resume, concurrency=options.concurrency, timeout_s=options.timeout_s
    )
    check_run(run, [labels], options.output, options.report, is_bulk=True)
    from server.cli.agreement import calibrate as work

    asyncio.run(work.calibrate(labels, connection, options, run))


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
    matched by "id"; "category" is for a table by category.

    The answer is a regression when the whole 95% interval of the mean difference, a
    paired bootstrap over items, lies below minus --tolerance, or when an item that
    had a score has none any more. The judge abstains from a few of any summaries:
    these count when they have become more, beyond chance.
    """
    check_outputs([path for path in (before, after, options.calibration) if path], options.report)
    _ = options.kind  # what is wrong with it is said before anything is read
    from server.cli.agreement import compare as work

    work.compare((before, after), options)
