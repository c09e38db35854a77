"""Judges the summaries of one source, and shows why their scores are what they are; or judges many items."""

from collections.abc import Sequence
from pathlib import Path

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console

from server.cli.bulk import run_few, run_many
from server.cli.judge.calibration import applied_calibration
from server.cli.judge.floors import JudgeTerms
from server.cli.judge.items import read_items, read_summaries, to_work
from server.cli.judge.judgements import JudgeTally
from server.cli.judge.table import print_comparison, print_judgement, print_verdicts
from server.cli.options import Connection, RunOptions


async def judge_document(
    source: Path, summaries: Sequence[Path], connection: Connection, terms: JudgeTerms, options: RunOptions
) -> None:
    """Reads, judges, prints. Raises CliError."""
    items = read_summaries(source, summaries)
    applied, terms = applied_calibration(terms)

    def show(console: Console, results: Sequence[tuple[str, pb.JudgeResult]]) -> None:
        if len(results) == 1:
            print_judgement(console, results[0][1], is_brief=options.is_brief, shown_claims=terms.shown_claims)
        else:
            print_comparison(console, results, is_brief=options.is_brief, shown_claims=terms.shown_claims)
        if applied:
            verdicts = [(item_id, applied.verdict_of(result)) for item_id, result in results]
            print_verdicts(console, applied.calibration, verdicts)

    work = to_work(terms, common_pb2.PRIORITY_INTERACTIVE, applied)
    await run_few(work, items, connection, options, tally=JudgeTally(terms.floors, applied), show=show)


async def judge_bulk(path: Path, connection: Connection, terms: JudgeTerms, options: RunOptions) -> None:
    """Reads, judges, prints. Raises CliError; CliError itself when items failed."""
    applied, terms = applied_calibration(terms)
    work = to_work(terms, common_pb2.PRIORITY_BULK, applied)
    await run_many(work, read_items(path), connection, options, tally=JudgeTally(terms.floors, applied))
