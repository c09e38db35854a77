"""Judges the summaries of one source, and shows why their scores are what they are; or judges many items."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from precis.v1 import common_pb2

from server.cli.bulk import run_bulk, run_few
from server.cli.console import output_console, print_note
from server.cli.errors import NegativeAnswer
from server.cli.files import result_file
from server.cli.judge.calibration import applied_calibration
from server.cli.judge.floors import JudgeTerms
from server.cli.judge.items import read_items, read_summaries, to_work
from server.cli.judge.names import breaches_of
from server.cli.judge.report.page import BulkReport, ReportedItem, report_of
from server.cli.judge.table import print_comparison, print_judgement, print_verdict_counts, print_verdicts
from server.cli.judge.tally import JudgeAnswer, JudgeTally, print_tally
from server.cli.options import Connection, RunOptions, is_overview
from server.cli.spread import note_report


async def judge_document(
    source: Path, summaries: Sequence[Path], connection: Connection, terms: JudgeTerms, options: RunOptions
) -> None:
    """Reads, judges, prints. Raises CliError."""
    items = read_summaries(source, summaries)
    applied, terms = applied_calibration(terms)
    with result_file(terms.report) as page:
        work = to_work(terms, common_pb2.PRIORITY_INTERACTIVE, applied)
        results, document = await run_few(work, items, connection, options)
        judged = [ReportedItem(item, result) for item, result in zip(items, results, strict=True)]
        if page is not None:
            page.write(report_of(judged, terms.floors))
    if options.as_json:
        sys.stdout.write(document)
    elif len(judged) == 1:
        print_judgement(output_console(), results[0], is_brief=options.is_brief, shown_claims=terms.shown_claims)
    else:
        named = [(item.id, result) for item, result in judged]
        print_comparison(output_console(), named, is_brief=options.is_brief, shown_claims=terms.shown_claims)
    verdicts = [(item.id, applied.verdict_of(result)) for item, result in judged] if applied else []
    if applied and not options.as_json:
        print_verdicts(output_console(), applied.calibration, verdicts)
    note_report(terms.report)
    breaches = [
        f"{item.id} {breach}" if len(judged) > 1 else str(breach)
        for item, result in judged
        for breach in breaches_of(result, terms.floors)
    ]
    breaches += [f"{item_id} does not pass --calibration" for item_id, verdict in verdicts if not verdict.passed]
    if breaches:
        raise NegativeAnswer(f"under the limit: {', '.join(breaches)}")


async def judge_bulk(path: Path, connection: Connection, terms: JudgeTerms, options: RunOptions) -> None:
    """Reads, judges, prints. Raises CliError; CliError itself when items failed."""
    applied, terms = applied_calibration(terms)
    tally, report = JudgeTally(terms.floors), BulkReport(terms.floors)
    verdicts: Counter[str] = Counter()

    def take(answer: JudgeAnswer) -> None:
        tally.add(answer)
        if applied and answer.result is not None:
            verdicts[applied.verdict_of(answer.result).word] += 1
        if terms.report is not None:
            report.add(answer)

    with result_file(terms.report) as page:
        work = to_work(terms, common_pb2.PRIORITY_BULK, applied)
        await run_bulk(work, read_items(path), connection, options, take)
        if page is not None and terms.report is not None:
            page.write(tally.to_json() if is_overview(terms.report) else report.render(tally))
    if not options.as_json:
        print_tally(output_console(), tally)
    if applied and not options.as_json:
        print_verdict_counts(output_console(), applied.calibration, verdicts)
    note_report(terms.report)
    if len(tally.models) > 1:
        print_note("The results come from different models; without --resume all items are judged anew.")
    tally.check()
    if failed := verdicts.total() - verdicts["pass"]:
        raise NegativeAnswer(f"{failed} of {tally.item_count} items do not pass --calibration")
