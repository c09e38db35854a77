"""`precis summarize`: the command's options and help. The work is in `write_summary`."""

import asyncio
from collections.abc import Container
from contextlib import AbstractAsyncContextManager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from server.cli.errors import InputError
from server.cli.options import (
    BudgetOptions,
    Connection,
    EndpointOptions,
    SummaryOptions,
    TargetOptions,
    check_outputs,
    command,
    exit_codes,
)

if TYPE_CHECKING:
    from server.cli.connection import CommandClient

OF_A_BEGINNING = {"plan", *(field.name for field in fields(SummaryOptions))}
"""What cannot be chosen any more when a summary goes on."""


@command(
    "precis summarize manual.pdf --output manual.md",
    'precis summarize manual.pdf --words 300 --form bullets --focus "starting the pump"',
    "precis summarize manual.pdf --cite-pages --report manual.html",
    "precis summarize handbook.txt --plan",
    "precis summarize docs/ minutes.docx -o all.md   # one document, file names as headings",
    "precis summarize manual.pdf --json | jq '.retention.share'",
    "precis summarize --resume 1a3c9e6b291d4c6ea838a06cfba52a7f",
    "precis summarize manual.pdf --endpoint http://127.0.0.1:8080/v1 --model qwen3",
    exits=exit_codes("done and flawed, with --fail-flawed", "a partial summary"),
)
def summarize(
    files: Annotated[
        list[Path] | None,
        Argument(
            metavar="FILE|DIR...", help="PDF, HTML, DOCX, EPUB, PPTX or text; several are one document; - reads text."
        ),
    ] = None,
    *,
    target: TargetOptions,
    resume: Annotated[
        str | None, Option("--resume", metavar="ID", help="Go on with a summary; no finished call is repeated.")
    ] = None,
    plan: Annotated[bool, Option("--plan", help="Only count the calls that it would take.")] = False,
    timeout: Annotated[
        float | None, Option("--timeout", "-t", min=0.001, metavar="SECONDS", help="Longest wait (default none).")
    ] = None,
    endpoint: Annotated[
        str | None,
        Option("--endpoint", metavar="URL", help="Have this OpenAI-compatible endpoint write; asks no server."),
    ] = None,
    model: Annotated[str | None, Option("--model", metavar="NAME", help="The model to ask for there.")] = None,
    options: SummaryOptions,
    budget: BudgetOptions,
    connection: Connection,
    context: typer.Context,
) -> None:
    """Summarize a long document; how much of its technical terms is kept is told with it.

    Shows how far it is: phase, calls, tokens, time left. Ctrl+C stops it and
    says how to go on later; what is done is kept on the server.

    The server decides who writes: the language model of its settings
    (PRECIS_LLM__BASE_URL, PRECIS_LLM__MODEL, PRECIS_LLM__API_KEY_FILE), or
    without one its own extractive writer, which chooses sentences.

    With --endpoint and --model this command writes the summary itself: no server
    is asked (none lets its callers choose where it sends texts and keys), and
    --api-key-file is the endpoint's key. All other settings are those of
    `precis serve`; what is done is kept in ./summaries, and --resume needs
    the same --endpoint and --model.
    """
    if bool(files) == (resume is not None):
        raise InputError("name a FILE to summarize, or --resume ID")
    if resume is not None and (ignored := typed_of(context, OF_A_BEGINNING)):
        raise InputError(f"{ignored[0]} has no effect with --resume: what was asked for stays")
    here = named_endpoint(endpoint, model, context)
    from server.cli.summarize.run import LAYER_FILES, follow, plan_document, to_budget, to_options, write_summary
    from server.cli.summarize.source import list_files, read_document

    asked, bounds = to_options(options), to_budget(budget)  # what is wrong is refused before anything is read
    layers = [target.layers / name for name in LAYER_FILES] if target.layers is not None else []
    read = list_files(files, tells_skipped=False) if files else []
    check_outputs(read, target.output, target.report, *layers)

    async def work() -> None:
        async with open_writer(here, connection, timeout) as client:
            if resume is not None:
                stream = client.resume_summary(resume, budget=bounds, timeout_s=timeout)
                await write_summary(follow(stream, client), client, target)
                return
            document = read_document(files or [])
            if plan:
                await plan_document(document, asked, client, target)
                return
            stream = client.summarize(document, options=asked, budget=bounds, timeout_s=timeout)
            await write_summary(follow(stream, client), client, target, document)

    asyncio.run(work())


def open_writer(
    here: EndpointOptions | None, connection: Connection, timeout_s: float | None
) -> "AbstractAsyncContextManager[CommandClient]":
    """Opens what writes summaries: this process or a server."""
    if here is not None:
        from server.cli.summarize.local import local_client

        return local_client(here, timeout_s)
    from server.cli.summarize.run import open_summaries

    return open_summaries(connection, timeout_s)


def named_endpoint(url: str | None, model: str | None, context: typer.Context) -> EndpointOptions | None:
    """Reads --endpoint, --model and the endpoint's key file. Raises InputError."""
    if url is None or model is None:
        if url or model:
            raise InputError("--endpoint and --model belong together: give both or none")
        return None
    typed = {name for name in context.params if is_typed(context, name)}
    if of_server := sorted(typed & {"address", "tls_ca", "tls_cert", "tls_key"}):
        flag = "--" + of_server[0].replace("_", "-")
        raise InputError(f"--endpoint asks no server: leave {flag} out, or set the endpoint in the server's settings")
    # A key in PRECIS_API_KEY_FILE is for a Precis server, and must not be sent to an endpoint.
    key_file = context.params["api_key_file"] if "api_key_file" in typed else None
    return EndpointOptions(url, model, key_file)


def is_typed(context: typer.Context, name: str) -> bool:
    """Tells whether an option stands on the command line, and not in the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def typed_of(context: typer.Context, names: Container[str]) -> list[str]:
    """Returns how those of some parameters are written that stand on the command line."""
    options = [one for one in context.command.params if one.name in names and is_typed(context, one.name or "")]
    return [one.opts[0] for one in options]
