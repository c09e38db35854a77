"""Judges the summaries of one source, and shows why their scores are what they are; or judges many items."""

import sys
from collections.abc import Sequence
from pathlib import Path

from precis.calls import JUDGE, Call, rpc_path
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.bulk import run_bulk, run_few
from server.cli.connection import CommandClient
from server.cli.console import output_console, print_note
from server.cli.errors import NegativeAnswer
from server.cli.files import result_file
from server.cli.judge.floors import JudgeTerms
from server.cli.judge.items import Item, read_items, read_summaries
from server.cli.judge.names import breaches_of
from server.cli.judge.report.page import BulkReport, ReportedItem, report_of
from server.cli.judge.table import print_comparison, print_judgement
from server.cli.judge.tally import JudgeAnswer, JudgeTally, print_tally
from server.cli.options import Connection, RunOptions
from server.cli.results import Work


async def judge_document(
    source: Path, summaries: Sequence[Path], connection: Connection, terms: JudgeTerms, options: RunOptions
) -> None:
    """Reads, judges, prints. Raises CliError."""
    items = read_summaries(source, summaries)
    with result_file(terms.report) as page:
        work = to_work(terms, common_pb2.PRIORITY_INTERACTIVE)
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
    note_report(terms)
    breaches = [
        f"{item.id} {breach}" if len(judged) > 1 else str(breach)
        for item, result in judged
        for breach in breaches_of(result, terms.floors)
    ]
    if breaches:
        raise NegativeAnswer(f"under the limit: {', '.join(breaches)}")


async def judge_bulk(path: Path, connection: Connection, terms: JudgeTerms, options: RunOptions) -> None:
    """Reads, judges, prints. Raises CliError; CliError itself when items failed."""
    tally, report = JudgeTally(terms.floors), BulkReport(terms.floors)

    def take(answer: JudgeAnswer) -> None:
        tally.add(answer)
        if terms.report is not None:
            report.add(answer)

    with result_file(terms.report) as page:
        await run_bulk(to_work(terms, common_pb2.PRIORITY_BULK), read_items(path), connection, options, take)
        if page is not None:
            page.write(report.render(tally))
    if not options.as_json:
        print_tally(output_console(), tally)
    note_report(terms)
    if len(tally.models) > 1:
        print_note("The results come from different models; without --resume all items are judged anew.")
    tally.check()


def note_report(terms: JudgeTerms) -> None:
    """Says where the page is."""
    if terms.report is not None:
        print_note(f"report: {terms.report}")


def to_work(terms: JudgeTerms, priority: common_pb2.Priority.ValueType) -> Work[Item, pb.JudgeResult]:
    """Describes how items are judged; what is not set is left to the server."""
    common = pb.JudgeRequest(
        frameworks=[pb.JudgeFramework.Value(f"JUDGE_FRAMEWORK_{choice.name}") for choice in terms.frameworks],
        options=pb.JudgeOptions(use_language_model=terms.use_language_model, max_claims=terms.max_claims),
        priority=priority,
        view=common_pb2.RESULT_VIEW_FULL,  # for --output, --report and what the tables show
    )

    async def send(client: CommandClient, item: Item) -> pb.JudgeResult:
        request = pb.JudgeRequest(source=item.source, summary=item.summary)
        request.MergeFrom(common)
        call = Call(rpc_path(JUDGE, "Judge"), request, pb.JudgeResponse.FromString)
        return (await client.send(call)).result

    hashed = (*terms.frameworks, str(terms.use_language_model), str(terms.max_claims))
    return Work("judging", "result", pb.JudgeResult, send, hashed)
