"""The items of `precis evaluate` and `precis judge`: a few at once, or many, whose results are written as they come."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.rpc import code_pb2
from precis import errors
from precis.v1 import common_pb2

from server.cli.connection import CommandClient, open_client, server_errors, to_cli_error
from server.cli.console import note_files, output_console, print_json, print_note, to_json_document, write
from server.cli.errors import CliError, InputError
from server.cli.files import STDIN, decode, feed, parse_object, read_lines, result_file
from server.cli.options import Connection, RunOptions
from server.cli.parquet import PARQUET, count_rows, read_parquet
from server.cli.progress import Progress, State
from server.cli.results import Answer, EarlierResults, I, R, Work, earlier_results, to_answer
from server.cli.tally import Tally
from server.rpc.streams import map_concurrently


@dataclass(frozen=True, slots=True)
class BadItem:
    """Something in the place of an item that cannot be sent."""

    id: str
    problem: str


Items = tuple[Iterator[I | BadItem], int | None]
"""Items as they are read, and how many there are; None when they cannot be counted before."""


def read_json_lines(path: Path, parse: Callable[[dict[str, Any], str], I]) -> Items[I]:
    """Reads JSON Lines, or the rows of a Parquet file as such.

    Args:
        path: Parquet if its name ends so.
        parse: gets the fields of a line, and the name of an item that has none.

    Raises:
        InputError: it cannot be read.
    """
    is_parquet = path.suffix == PARQUET

    def found() -> Iterator[I | BadItem]:
        for number, line in read_parquet(path) if is_parquet else read_lines(path):
            place = f"line {number}"
            try:
                yield parse(parse_object(decode(line)), place)
            except InputError as error:
                yield BadItem(place, error.message)

    if is_parquet:
        return found(), count_rows(path)
    return found(), None if path == STDIN else sum(1 for _ in read_lines(path))


async def run_few(
    work: Work[I, R], items: Sequence[I], connection: Connection, options: RunOptions, tally: Tally[I, R]
) -> None:
    """Works on a few items at once, writes what is asked for, shows the results in their order. Raises CliError."""
    tally.keeps_page = options.report is not None
    with result_file(options.report) as page, result_file(options.output) as output:
        results = await send_all(work, items, connection, options)
        for item, result in zip(items, results, strict=True):
            tally.add(Answer(item.id, item, result, None, ""))
        fields = [{"id": item.id} | work.fields(item, result) for item, result in zip(items, results, strict=True)]
        if output is not None:
            output.write(to_json_document({"results": fields}))
        if page is not None:
            page.write(tally.render(has_index=len(items) > 1))
    if options.as_json:
        print_json({"results": fields})
    else:
        named = [(item.id, result) for item, result in zip(items, results, strict=True)]
        tally.show(output_console(), named, is_brief=options.is_brief)
    note_files(report=options.report)
    tally.check()


async def send_all(work: Work[I, R], items: Sequence[I], connection: Connection, options: RunOptions) -> list[R]:
    """Sends all items at once. The first failure stops the others."""
    done = 0

    async def one(item: I) -> R:
        nonlocal done
        with server_errors(connection, f"{item.id}: " if len(items) > 1 else ""):
            result = await work.send(client, item)
        done += 1
        progress.update(State(work.verb, done, len(items)))
        return result

    async with open_client(connection, options.timeout_s, is_local=options.is_local) as client:
        with Progress() as progress:
            progress.update(State(work.verb, 0, len(items)))
            return await asyncio.gather(*map(one, items))


async def run_many(
    work: Work[I, R], items: Items[I], connection: Connection, options: RunOptions, tally: Tally[I, R]
) -> None:
    """Works on many items, writes what is asked for, shows what they amount to. Raises CliError."""
    tally.keeps_page = options.report is not None
    with result_file(options.report) as page:
        await run_bulk(work, items, connection, options, tally.add)
        if page is not None:
            page.write(tally.render())
    if not options.as_json:
        tally.print(output_console())
    note_files(report=options.report)
    tally.check()


async def run_bulk(
    work: Work[I, R], items: Items[I], connection: Connection, options: RunOptions, take: Callable[[Answer[I, R]], None]
) -> None:
    """Works on many items; writes each answer, and hands it to `take`. Raises CliError when no other can be had."""
    done = failed = 0
    with earlier_results(options, work) as earlier, result_file(options.output) as output, Progress() as progress:
        progress.update(State(work.verb, 0, items[1]))
        try:
            async with aclosing(answers(work, items, connection, options, earlier)) as found:
                async for answer in found:
                    take(answer)
                    if output is not None:
                        write(answer.line, output)
                    if options.as_json:
                        write(answer.line)
                    done += 1
                    failed += answer.error is not None
                    progress.update(State(work.verb, done, items[1]))
        except (CliError, asyncio.CancelledError):  # the latter is Ctrl+C
            if options.output is not None and done > failed:
                print_note(f"{done - failed} items are done. To go on: the same command with --resume")
            raise


async def answers(
    work: Work[I, R], items: Items[I], connection: Connection, options: RunOptions, earlier: EarlierResults[I, R]
) -> AsyncGenerator[Answer[I, R], None]:
    """Yields an answer for each item, as they come."""

    async def answer(item: I | BadItem) -> Answer[I, R]:
        if isinstance(item, BadItem):
            error = common_pb2.ItemError(code=code_pb2.INVALID_ARGUMENT, message=item.problem)
            return to_answer(work, item.id, None, "", error)
        sha256 = item.sha256(*work.terms)
        kept = earlier.take(item, sha256)
        if kept is not None:
            return kept
        try:
            return to_answer(work, item.id, item, sha256, await work.send(client, item))
        except errors.PrecisError as error:
            return to_answer(work, item.id, item, sha256, to_item_error(error, connection))

    workers: AbstractAsyncContextManager[CommandClient] = open_client(
        connection, options.timeout_s, is_local=options.is_local
    )
    if options.engine == "ray":
        from server.cli.ray_engine import open_cluster

        workers = open_cluster(options)
    async with (
        workers as client,
        aclosing(feed(items[0])) as read,
        aclosing(map_concurrently(read, answer, limit=options.concurrency * client.width)) as finished,
    ):
        async for one in finished:
            yield one


ITEM_ERRORS = (
    errors.InvalidArgument,
    errors.MessageTooLarge,
    errors.Overloaded,
    errors.DeadlineExceeded,
    errors.Internal,
)
"""Failures of one item. After any other, such as a server that is gone, the next item would fail as well."""


def to_item_error(error: errors.PrecisError, connection: Connection) -> common_pb2.ItemError:
    """Returns the error of one item. Raises CliError when the others would fail as well."""
    failure = to_cli_error(error, connection)
    if not isinstance(error, ITEM_ERRORS):
        raise failure from error
    code = error.code.value[0]
    if len(error.violations) == 1:
        return common_pb2.ItemError(code=code, field=error.field, message=error.expected)
    return common_pb2.ItemError(code=code, message=failure.message)
