"""The items of `precis evaluate` and `precis judge`: a few at once, or many, whose results are written as they come.

A line of results is {"id", "item_sha256", NAME} or {"id", "item_sha256", "error"}. The hash is of the item and the
terms on which it was sent: --resume keeps what has not changed and sends the rest.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Generic

from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2
from precis import errors
from precis.v1 import common_pb2

from server.cli import files
from server.cli.connection import CommandClient, open_client, server_errors, to_cli_error
from server.cli.console import counted, note_files, output_console, print_json, print_note, to_json_document, write
from server.cli.errors import CliError, InputError
from server.cli.options import Connection, RunOptions
from server.cli.parquet import PARQUET, count_rows, read_parquet, write_lines
from server.cli.progress import Progress, State
from server.cli.tally import Answer, I, NamedItem, R, Tally
from server.rpc.streams import map_concurrently


def category_field(item: NamedItem, _result: Message) -> dict[str, Any]:
    """Repeats the category of an item that has one."""
    return {"category": item.category} if item.category else {}


@dataclass(frozen=True, slots=True)
class Work(Generic[I, R]):
    """What a command does with its items."""

    verb: str  # for the progress, for example "judging"
    name: str  # of a result in its line
    result_type: type[R]  # the message of a result
    send: Callable[[CommandClient, I], Awaitable[R]]  # gets the result of one item. Raises PrecisError.
    terms: tuple[str, ...] = ()  # what decides the result beside the item
    # gives further fields of a result's line; asked again for one that is kept. Raises CliError.
    more_fields: Callable[[I, R], dict[str, Any]] = category_field
    stops: bool = False  # any failure stops the others, as the failure of a server does

    def fields(self, item: I, result: R) -> dict[str, Any]:
        """Gives a result, and what stands beside it, as plain data."""
        return {self.name: files.to_json_fields(result), **self.more_fields(item, result)}


def to_answer(
    work: Work[I, R], item_id: str, item: I | None, sha256: str, outcome: R | common_pb2.ItemError
) -> Answer[I, R]:
    """Builds the answer to an item from its result or its error."""
    error, result = (outcome, None) if isinstance(outcome, common_pb2.ItemError) else (None, outcome)
    answer = work.fields(item, result) if item and result is not None else {"error": files.to_json_fields(outcome)}
    line = files.to_json_line({"id": item_id, "item_sha256": sha256, **answer})
    return Answer(item_id, item, result, error, line)


@contextmanager
def earlier_results(options: RunOptions, work: Work[I, R]) -> Iterator[Callable[[str], R | None]]:
    """Opens what an interrupted run left, or else the results of one that ended; nothing without --resume.

    What an interrupted run left is put into FILE.earlier, because FILE.partial is about to be written anew, and stays
    there until a run has ended.

    Yields:
        What finds the result of an item by its hash, once for each time that it was worked on.

    Raises:
        InputError: a file is there but does not hold results.
    """
    if options.output is None:
        yield lambda _: None
        return
    output = options.output.resolve()
    earlier, partial = output.with_name(output.name + ".earlier"), output.with_name(output.name + files.PARTIAL)
    try:
        if options.resume and output.suffix == PARQUET and output.exists() and not earlier.exists():
            write_lines(output, earlier)
        if options.resume and partial.exists():
            with partial.open("rb") as left, earlier.open("ab") as kept:
                # A line without an end was being written when the run ended.
                kept.writelines(line for line in left if line.endswith(b"\n"))
            partial.unlink()
        path = earlier if earlier.exists() else output
        with path.open("rb") if options.resume and path.exists() else BytesIO() as file:
            offsets = index_lines(file, path, work.name)

            def take(sha256: str) -> R | None:
                if not offsets.get(sha256):
                    return None
                file.seek(offsets[sha256].pop(0))
                fields = json.loads(file.readline())[work.name]
                return json_format.ParseDict(fields, work.result_type(), ignore_unknown_fields=True)

            yield take
        earlier.unlink(missing_ok=True)
    except BrokenPipeError:
        raise  # stdout's, from the block: its reader has gone
    except OSError as error:
        raise CliError(f"cannot go on with {output}: {error.strerror}") from error


def index_lines(file: BinaryIO, path: Path, name: str) -> dict[str, list[int]]:
    """Finds where the line of each result begins. Raises InputError."""
    offsets: dict[str, list[int]] = {}
    start = 0
    for number, line in enumerate(file, start=1):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            fields = None
        is_named = isinstance(fields, dict) and isinstance(fields.get("item_sha256"), str)
        if not is_named or not (name in fields or "error" in fields):
            raise InputError(
                f"{path}: line {number} is no result of this command; to do all items again, leave out --resume"
            )
        if name in fields:
            offsets.setdefault(fields["item_sha256"], []).append(start)
        start += len(line)
    return offsets


Items = tuple[Iterator[tuple[str, I | InputError]], int | None]
"""Names of items as they are read, each with the item or why it is none; and how many, None when nobody can tell."""


def read_json_lines(path: Path, parse: Callable[[dict[str, Any], str], I], otherwise: str) -> Items[I]:
    """Reads JSON Lines, or the rows of a Parquet file as such.

    Args:
        path: Parquet if its name ends so.
        parse: gets the fields of a line, and the name of an item that has none.
        otherwise: what to do with a file of another kind.

    Raises:
        InputError: it cannot be read, or none of its lines is an object.
    """
    is_parquet = path.suffix == PARQUET
    found = files.parse_rows(read_parquet(path) if is_parquet else files.read_lines(path), parse)
    if is_parquet:
        return found, count_rows(path)
    if path == files.STDIN:
        return found, None
    count = sum(1 for _ in files.read_lines(path))
    objects = files.parse_rows(files.read_lines(path), lambda fields, _: fields, are_named=False)
    if count and all(isinstance(row, InputError) for _, row in objects):
        raise InputError(f"{path}: no line is a JSON object; {otherwise}")
    return found, count


async def run_items(
    work: Work[I, R], items: Items[I] | list[I], connection: Connection, options: RunOptions, tally: Tally[I, R]
) -> None:
    """Works on a list of a few items at once, or on many; writes what is asked for, and shows it. Raises CliError."""
    is_bulk = not isinstance(items, list)
    tally.keeps_page = options.report is not None or not is_bulk
    with files.result_file(options.report) as page:
        if isinstance(items, list):
            await _run_few(work, items, connection, options, tally)
        else:
            await run_bulk(work, items, connection, options, tally.add)
        if page is not None:
            page.write(tally.render(has_index=is_bulk or tally.item_count > 1))
    if is_bulk and not options.as_json:
        tally.print(output_console())
    note_files(report=options.report)
    tally.check()


async def _run_few(
    work: Work[I, R], items: list[I], connection: Connection, options: RunOptions, tally: Tally[I, R]
) -> None:
    answered: list[Answer[I, R]] = []
    with files.result_file(options.output) as output:
        unwritten = replace(options, output=None, as_json=False)
        sent = iter([(item.id, item) for item in items]), len(items)
        await run_bulk(work, sent, connection, unwritten, answered.append)
        found = [(one.item, one.result) for one in answered if one.item is not None and one.result is not None]
        found.sort(key=lambda one: items.index(one[0]))
        fields = {"results": [{"id": item.id} | work.fields(item, result) for item, result in found]}
        if output is not None:
            output.write(to_json_document(fields))
    for item, result in found:
        tally.add(Answer(item.id, item, result, None, ""))
    if options.as_json:
        print_json(fields)
    else:
        tally.show(output_console(), [(item.id, result) for item, result in found], is_brief=options.is_brief)


async def run_bulk(
    work: Work[I, R], items: Items[I], connection: Connection, options: RunOptions, take: Callable[[Answer[I, R]], None]
) -> None:
    """Works on many items; writes each answer, and hands it to `take`. Raises CliError when no other can be had."""
    done = failed = 0
    with earlier_results(options, work) as earlier, files.result_file(options.output) as output, Progress() as progress:
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
                print_note(f"Done: {counted(done - failed, 'item')}. To go on: the same command with --resume")
            raise


async def answers(
    work: Work[I, R],
    items: Items[I],
    connection: Connection,
    options: RunOptions,
    earlier: Callable[[str], R | None],
) -> AsyncGenerator[Answer[I, R], None]:
    """Yields an answer for each item, as they come."""

    async def answer(named: tuple[str, I | InputError]) -> Answer[I, R]:
        name, item = named
        if isinstance(item, InputError):
            error = common_pb2.ItemError(code=code_pb2.INVALID_ARGUMENT, message=item.message)
            return to_answer(work, name, None, "", error)
        sha256 = item.sha256(*work.terms)
        if (kept := earlier(sha256)) is not None:
            return replace(to_answer(work, item.id, item, sha256, kept), is_kept=True)
        try:
            return to_answer(work, item.id, item, sha256, await work.send(client, item))
        except errors.PrecisError as error:
            if work.stops or not isinstance(error, ITEM_ERRORS):
                with server_errors(connection, f"{item.id}: " if work.stops and items[1] != 1 else ""):
                    raise
            return to_answer(work, item.id, item, sha256, to_item_error(error, connection))

    local: dict[str, Any] | None = {} if options.is_local else None
    workers: AbstractAsyncContextManager[CommandClient] = open_client(connection, options.timeout_s, local=local)
    if options.engine == "ray":
        from server.cli.ray_engine import open_cluster

        workers = open_cluster(options)
    async with (
        workers as client,
        aclosing(files.feed(items[0])) as read,
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
    """Returns the error of one item."""
    code = error.code.value[0]
    if len(error.violations) == 1:
        return common_pb2.ItemError(code=code, field=error.field, message=error.expected)
    return common_pb2.ItemError(code=code, message=to_cli_error(error, connection).message)
