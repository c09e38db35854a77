"""Options that several commands share, each declared once. Imports nothing heavy: `precis --help` reads this."""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints

from typer import Option

from server.cli.errors import InputError
from server.cli.parquet import PARQUET

DEFAULT_ADDRESS = "127.0.0.1:50051"

JsonOption = Annotated[bool, Option("--json", help="Print JSON instead of tables.")]
TimeoutOption = Annotated[float, Option("--timeout", "-t", min=0.001, metavar="SECONDS", help="Longest wait.")]
NoLanguageModelOption = Annotated[bool, Option("--no-llm", help="Do not ask the server's language model.")]
ReportOption = Annotated[
    Path | None, Option("--report", metavar="FILE.html", help="Write a page for people, with all evidence.")
]
LocalOption = Annotated[bool, Option("--local", help="Ask no server: load the models into this process.")]
ConcurrencyOption = Annotated[int, Option("--concurrency", min=1, max=256, help="Items in work at once.")]
ItemTimeoutOption = Annotated[
    float, Option("--timeout", "-t", min=0.001, metavar="SECONDS", help="Longest wait for one item.")
]


@dataclass(frozen=True)
class Connection:
    """How a command reaches the server."""

    address: Annotated[
        str, Option("--address", "-a", envvar="PRECIS_ADDRESS", metavar="HOST:PORT", help="Where the server listens.")
    ] = DEFAULT_ADDRESS
    tls_ca: Annotated[Path | None, Option(envvar="PRECIS_TLS_CA", metavar="PEM", help="Use TLS and trust this.")] = None
    tls_cert: Annotated[Path | None, Option(metavar="PEM", help="Client certificate, for mutual TLS.")] = None
    tls_key: Annotated[Path | None, Option(metavar="PEM", help="Key of the client certificate.")] = None
    api_key_file: Annotated[
        Path | None, Option(envvar="PRECIS_API_KEY_FILE", metavar="FILE", help="File that holds the API key.")
    ] = None


@dataclass(frozen=True)
class RunOptions:
    """What `precis evaluate` and `precis judge` do with their items and results."""

    as_json: JsonOption = False
    is_brief: Annotated[bool, Option("--brief", help="Print the scores, not what is behind them.")] = False
    output: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help="Also write the results here, as JSON, or many as Parquet."),
    ] = None
    report: ReportOption = None
    resume: Annotated[bool, Option("--resume", help="Keep what --output holds; do the rest.")] = False
    concurrency: ConcurrencyOption = 8
    timeout_s: ItemTimeoutOption = 300.0
    is_local: LocalOption = False
    engine: Annotated[Literal["server", "ray"], Option(help="Who works: a server, or a Ray cluster.")] = "server"
    workers: Annotated[int | None, Option(min=1, help="Actors of --engine ray (default: all that fit).")] = None
    cores: Annotated[int, Option(min=1, help="Cores of one actor of --engine ray.")] = 4


def check_run(options: RunOptions, inputs: Sequence[Path], *outputs: Path | None, is_bulk: bool) -> None:
    """Refuses what cannot work, such as to write over what is read. Raises InputError."""
    is_ray, is_parquet = options.engine == "ray", options.output is not None and options.output.suffix == PARQUET
    wrong = {
        "--resume is for many items, in JSON Lines or Parquet": options.resume and not is_bulk,
        "--engine ray is for many items, in JSON Lines or Parquet": is_ray and not is_bulk,
        "--local works in this process, and --engine ray on a cluster: leave one out": is_ray and options.is_local,
        "results are Parquet for many items only: name FILE.json": is_parquet and not is_bulk,
        "--resume needs --output: it goes on with the results there": options.resume and options.output is None,
    }
    if refused := next((message for message, is_wrong in wrong.items() if is_wrong), ""):
        raise InputError(refused)
    check_files(inputs, options.output, options.report, *outputs)


def check_files(inputs: Sequence[Path], *outputs: Path | None) -> None:
    """Refuses to read standard input twice, and to write over a file that is named or where none can be.

    Raises:
        InputError: one of these.
    """
    if inputs.count(Path("-")) > 1:
        raise InputError("only one text can be standard input: name a file for the others")
    taken = {path.resolve() for path in inputs}
    for path in filter(None, outputs):
        if path.resolve() in taken:
            raise InputError(f"{path} is named twice: it would be written over")
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder; name a file in it")
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}; make it first")
        taken.add(path.resolve())


def exit_codes(no: str = "", other: str = "") -> str:
    """Says what the exit codes of a command mean that asks a server.

    Args:
        no: what 1 means; empty: the command never says no.
        other: an example of 4.
    """
    one, such = f"1 {no}; " if no else "", f", such as {other}" if other else ""
    rest = f"3 the server cannot be reached, is full or too slow; 4 anything else{such}; 130 Ctrl+C."
    return f"0 done; {one}2 the input has to change; {rest}"


def command(*examples: str, exits: str = "") -> Callable[[Callable[..., object]], Callable[..., None]]:
    """Makes a command of a function: its help ends with examples and exit codes, its groups of options are taken apart.

    A parameter whose type is a dataclass is such a group: each of its fields becomes an option. A coroutine is run.

    Args:
        examples: command lines.
        exits: what the exit codes mean; empty: they are not told.
    """

    def decorate(function: Callable[..., object]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        parameters = [
            one.replace(annotation=hints[one.name]) for one in inspect.signature(function).parameters.values()
        ]
        groups = {name: group for name, group in hints.items() if is_dataclass(group) and isinstance(group, type)}

        @functools.wraps(function)
        def run(**values: Any) -> None:  # noqa: ANN401 - whatever typer has parsed
            for name, group in groups.items():
                values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
            ended = function(**values)
            if inspect.iscoroutine(ended):
                import asyncio

                asyncio.run(ended)

        expanded = [option for parameter in parameters for option in _expand(parameter)]
        run.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined] # typer reads it
        run.__annotations__ = {option.name: option.annotation for option in expanded}
        told = inspect.cleandoc(function.__doc__ or "").split("\n\n")
        paragraphs = [one if one.startswith(" ") else one.replace("\n", " ") for one in told]  # fill the terminal
        paragraphs.append("\n".join(["[bold]Examples[/]", *(f"  {example}" for example in examples)]))
        run.__doc__ = "\n\n".join(paragraphs + ([f"[bold]Exit codes[/]  {exits}"] if exits else []))
        return run

    return decorate


def _expand(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    options, group = [parameter], parameter.annotation
    if is_dataclass(group):
        hints, kind = get_type_hints(group, include_extras=True), inspect.Parameter.KEYWORD_ONLY
        options = [
            inspect.Parameter(one.name, kind, default=one.default, annotation=hints[one.name]) for one in fields(group)
        ]
    for option in options:
        if get_origin(option.annotation) is Annotated and option.annotation.__origin__ is bool:
            option.annotation.__metadata__[0].metavar = ""  # else help says <bool> behind a flag
        yield option
