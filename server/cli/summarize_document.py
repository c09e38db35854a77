"""Summarizes one document: sends it, follows the events, writes the result."""

import asyncio
import sys
from collections.abc import AsyncIterable
from dataclasses import dataclass
from pathlib import Path

from precis.v1 import summarize_pb2 as pb

from server.cli.console import output_console, print_note
from server.cli.errors import CliError
from server.cli.options import SummaryOptions
from server.cli.result_file import result_file, to_json_document, to_json_fields
from server.cli.summarize_source import read_document
from server.cli.summarize_view import SummaryView, ending, print_plan, progress_view
from server.cli.summary_calls import Response, SummaryCalls

AUDIENCES = {"technical": pb.SUMMARY_TYPE_TECHNICAL, "operator": pb.SUMMARY_TYPE_OPERATOR}


@dataclass(frozen=True)
class Target:
    """Where the summary goes.

    Attributes:
        file: None for stdout.
        as_json: JSON in place of Markdown.
    """

    file: Path | None
    as_json: bool


async def plan_document(path: Path, options: SummaryOptions, calls: SummaryCalls, target: Target) -> None:
    """Counts the calls and prints them. Raises CliError."""
    response = await calls.plan(pb.PlanSummaryRequest(document=read_document(path), options=to_options(options)))
    with result_file(target.file) as file:
        if target.as_json:
            (file or sys.stdout).write(to_json_document(to_json_fields(response.plan)))
        else:
            print_plan(output_console(file), response.plan)


async def summarize_document(path: Path, options: SummaryOptions, calls: SummaryCalls, target: Target) -> None:
    """Reads, summarizes, writes. Raises CliError."""
    request = pb.SummarizeRequest(
        document=read_document(path), options=to_options(options), idempotency_key=options.idempotency_key
    )
    await write_summary(calls.summarize(request), calls, target)


async def resume_summary(summary_id: str, calls: SummaryCalls, target: Target) -> None:
    """Goes on with a summary and writes it. Raises CliError."""
    await write_summary(calls.resume(pb.ResumeSummaryRequest(summary_id=summary_id)), calls, target)


async def write_summary(responses: AsyncIterable[Response], calls: SummaryCalls, target: Target) -> None:
    """Follows a summary to its end and writes it, also a partial one; that is a CliError then."""
    with result_file(target.file) as file:  # opened first: hours of work must not end at a folder that is not there
        summary = await follow(responses, calls)
        (file or sys.stdout).write(
            to_json_document(to_json_fields(summary)) if target.as_json else to_markdown(summary)
        )
    print_note(ending(summary))
    if summary.status != pb.SUMMARY_STATUS_DONE:
        print_note(how_to_resume(summary.summary_id, calls))
        raise CliError(f"the summary is partial: {summary.failure.message}")


async def follow(responses: AsyncIterable[Response], calls: SummaryCalls) -> pb.Summary:
    """Shows the events and returns the summary. Says how to go on when that is not to be."""
    summary_id, summary = "", None
    try:
        with progress_view() as progress:
            view = SummaryView(progress)
            async for response in responses:
                event = response.event
                view.show(event)
                match event.WhichOneof("event"):
                    case "accepted":
                        summary_id = event.accepted.summary_id
                    case "summary":
                        summary = event.summary
    # Ctrl+C reaches us as CancelledError; all else is the call's own error, which goes its way.
    except BaseException as error:
        if summary_id and isinstance(error, Exception | asyncio.CancelledError):
            print_note(how_to_resume(summary_id, calls))
        raise
    if summary is None:
        raise CliError("the server ended the stream without a summary")
    return summary


def how_to_resume(summary_id: str, calls: SummaryCalls) -> str:
    """Says what to type."""
    return f"What is done is kept. To go on: precis summarize --resume {summary_id}{calls.flags}"


def to_options(options: SummaryOptions) -> pb.SummarizeOptions:
    """Gives the options as a message; what is not set is left to the server."""
    message = pb.SummarizeOptions(summary_type=AUDIENCES[options.audience], max_iterations=options.max_iterations)
    if options.wave == 0:
        message.wave_all = True
    elif options.wave is not None:
        message.wave_batches = options.wave
    return message


def to_markdown(summary: pb.Summary) -> str:
    """Gives the text, and the topics as a list below it."""
    topics = "".join(f"- {' '.join(topic.split())}\n" for topic in summary.topics)
    return summary.text.rstrip() + "\n" + (f"\n## Key topics\n\n{topics}" if topics else "")
