"""`precis judge`: the command's options and help. The work is in `judge_document` and `judge_bulk`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from server.cli.errors import InputError
from server.cli.judge.floors import FrameworkChoice, JudgeRun, check_floors, chosen_frameworks, parse_floor
from server.cli.options import (
    DEFAULT_ADDRESS,
    AddressOption,
    ApiKeyFileOption,
    Connection,
    TimeoutOption,
    TlsCaOption,
    TlsCertOption,
    TlsKeyOption,
)


def judge(
    items: Annotated[
        Path | None,
        typer.Argument(metavar="DIR|FILE.jsonl|-", help="Many items, in place of --source and --summary."),
    ] = None,
    *,
    source: Annotated[
        Path | None, typer.Option("--source", metavar="TXT", help="The source text; - reads stdin.")
    ] = None,
    summary: Annotated[
        list[Path] | None,
        typer.Option("--summary", "-s", metavar="TXT", help="Its summary. Repeatable; - reads stdin."),
    ] = None,
    framework: Annotated[
        list[FrameworkChoice] | None, typer.Option("--framework", "-f", help="Repeatable (default ultra).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write the results here, as JSON.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write a page that shows all evidence.")
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="[FRAMEWORK:]METRIC=SCORE", help="Exit with 1 when a score is under this. Repeatable."),
    ] = None,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Do not ask the server's language model.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what --output holds for the same items; judge the rest.")
    ] = False,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Items that are judged at once.")] = 8,
    timeout: TimeoutOption = 300.0,
    address: AddressOption = DEFAULT_ADDRESS,
    tls_ca: TlsCaOption = None,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
    api_key_file: ApiKeyFileOption = None,
) -> None:
    """Judge summaries against their source: five scores, and what the source says.

    Scores go from 0 to 10; 10 is best. Every score names its reasons, the limits
    that held it down, and the passages that decided.

    [bold]DIR[/] holds pairs NAME.source.txt and NAME.summary.txt. [bold]FILE.jsonl[/] holds
    {"id": ..., "source": ..., "summary": ...} a line; - reads such lines.
    A bad item is one error and does not stop the others. After Ctrl+C, or when
    items failed, the same command with --resume does what is missing.

    [bold]--report[/] writes one file that needs no network: the scores as a chart, each
    claim of the summary coloured by label, and the passage of the source that
    supports or contradicts it. Of many items the 200 worst are shown whole.

    [bold]Examples[/]

      precis judge --source article.txt --summary summary.txt --report out.html

      precis judge --source a.txt -s one.txt -s two.txt

      precis judge --source a.txt -s s.txt --json | jq '.results[0].result.frameworks'

      precis judge nightly/ --output results.jsonl --fail-under hallucination=7

      precis judge items.jsonl -f ultra --fail-under ultra:coverage=5 --report r.html

    [bold]Exit codes[/]  0 done; 1 a score is under --fail-under, or there is none; 2 the
    input has to change; 3 the server cannot be reached, is full or too slow;
    4 anything else, such as items that failed; 130 Ctrl+C.
    """
    floors = tuple(map(parse_floor, fail_under or ()))
    run = JudgeRun(
        frameworks=chosen_frameworks(framework or (), floors),
        use_language_model=False if no_llm else None,
        timeout_s=timeout,
        as_json=as_json,
        output=output,
        report=report,
        floors=floors,
        concurrency=concurrency,
        resume=resume,
    )
    check_floors(run.floors, run.frameworks)
    check_paths([path for path in (items, source, *(summary or ())) if path], output, report)
    connection = Connection(address, tls_ca, tls_cert, tls_key, api_key_file)
    if items is not None:
        if source or summary:
            raise InputError("give --source and --summary, or DIR or FILE.jsonl, not both")
        if resume and output is None:
            raise InputError("--resume needs --output: it goes on with the results there")
        from server.cli.judge.run import judge_bulk

        asyncio.run(judge_bulk(items, connection, run))
    elif source is None or not summary:
        raise InputError("nothing to judge: give --source FILE and --summary FILE, or DIR or FILE.jsonl")
    else:
        if resume:
            raise InputError("--resume is for DIR and FILE.jsonl")
        from server.cli.judge.run import judge_document

        asyncio.run(judge_document(source, summary, connection, run))


def check_paths(inputs: list[Path], *outputs: Path | None) -> None:
    """Refuses to write over what is read, or twice to the same file. Raises InputError."""
    taken = {path.resolve() for path in inputs}
    for path in outputs:
        if path is not None and path.resolve() in taken:
            raise InputError(f"{path} is named twice: it would be written over")
        if path is not None:
            taken.add(path.resolve())
