"""`precis summarize` and `precis summaries`: their options and help. The work is in `server/cli/summarize`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from server.cli.console import print_note
from server.cli.errors import InputError, NegativeAnswer
from server.cli.options import Connection, JsonOption, LocalOption, ReportOption, check_files, command, exit_codes

LAYER_FILES = ("overview.md", "summary.md", "extraction.md")
ENDPOINT_FLAGS = {"base_url": "--endpoint", "model": "--model", "api_key_file": "--api-key-file"}


@dataclass(frozen=True)
class SummaryOptions:
    """What a summary shall be, and how it is written; what is not set is left to the server."""

    words: Annotated[int | None, Option(min=1, help="Length in words, held within a tenth; a miss is said.")] = None
    tokens: Annotated[int | None, Option(min=1, help="Length in tokens of the writer.")] = None
    share: Annotated[float | None, Option(min=0, max=1, help="Length as a share of the document, such as 0.1.")] = None
    detail: Annotated[
        Literal["schedule", "full"] | None,
        Option(help="Length by rule: of the evaluation's schedule (default), or all that can be kept."),
    ] = None
    focus: Annotated[str, Option(metavar="TEXT", help="Subject or question that comes first, 500 characters.")] = ""
    form: Annotated[Literal["markdown", "prose", "bullets"] | None, Option(help="Form (default markdown).")] = None
    language: Annotated[str, Option(metavar="NAME", help="Language of the summary; needs a language model.")] = ""
    instructions: Annotated[str, Option(metavar="TEXT", help="Wishes of your own; needs a language model.")] = ""
    json_schema: Annotated[
        Path | None, Option(metavar="FILE", help="Write JSON that fits this schema; needs a language model.")
    ] = None
    summary_type: Annotated[Literal["technical", "operator"], Option("--type", help="For whom it is.")] = "technical"
    max_iterations: Annotated[
        int | None, Option("--iterations", min=1, max=5, help="Runs before a critic's FAIL is accepted (default 2).")
    ] = None


@dataclass(frozen=True)
class BudgetOptions:
    """What all runs of a summary may take of the language model together."""

    max_calls: Annotated[int | None, Option(min=1, help="Most calls of the language model, over all runs.")] = None
    max_tokens: Annotated[int | None, Option(min=1, help="Most tokens that it reads and writes, likewise.")] = None
    max_cost: Annotated[float | None, Option(min=0.000001, help="Most money, at the server's prices, likewise.")] = None


@dataclass(frozen=True)
class TargetOptions:
    """Where a summary goes, and what is checked about it."""

    output: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help="Write here, not on stdout: JSON if it ends in .json."),
    ] = None
    layers: Annotated[Path | None, Option(metavar="DIR", help="Also write overview, sections, extraction here.")] = None
    as_json: Annotated[bool, Option("--json", help="Give JSON with all measurements, not Markdown.")] = False
    report: ReportOption = None
    cite_pages: Annotated[bool, Option("--cite-pages", help="Write pages behind what is cited, in brackets.")] = False
    fail_flawed: Annotated[bool, Option("--fail-flawed", help="Exit with 1 if the checks still find faults.")] = False

    def check(self, inputs: Sequence[Path] = ()) -> None:
        """Makes the folder of the layers, and refuses what cannot be written, before any work. Raises InputError."""
        if self.layers is not None:
            try:
                self.layers.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"--layers {self.layers}: {error.strerror}") from error
        layers = [self.layers / name for name in LAYER_FILES] if self.layers is not None else ()
        check_files(inputs, self.output, self.report, *layers)

    @property
    def is_json(self) -> bool:
        """Whether all measurements are written."""
        return self.as_json or (self.output is not None and self.output.suffix.lower() == ".json")


OF_A_BEGINNING = {"plan", *(field.name for field in fields(SummaryOptions))}
"""What cannot be chosen any more when a summary goes on."""


@command(
    "precis summarize manual.pdf --output manual.md",
    "precis summarize manual.pdf --local       # without a server",
    'precis summarize manual.pdf --words 300 --form bullets --focus "starting the pump"',
    "precis summarize manual.pdf --cite-pages --report manual.html",
    "precis summarize handbook.txt --plan",
    "precis summarize docs/ minutes.docx -o all.md   # one document, file names as headings",
    "precis summarize manual.pdf --json | jq '.retention.share'",
    "precis summarize --resume 1a3c9e6b291d4c6ea838a06cfba52a7f",
    "precis summarize manual.pdf --endpoint http://127.0.0.1:8080/v1 --model qwen3",
    exits=exit_codes("done and flawed, with --fail-flawed", "a partial summary"),
)
async def summarize(
    files: Annotated[
        list[Path] | None,
        Argument(
            metavar="FILE|DIR...",
            help="PDF, HTML, DOCX, EPUB, PPTX, CSV, text; several are one document; - reads text.",
        ),
    ] = None,
    *,
    target: TargetOptions,
    resume: Annotated[str | None, Option(metavar="ID", help="Go on with a summary; repeats no finished call.")] = None,
    plan: Annotated[bool, Option("--plan", help="Only count the calls that it would take.")] = False,
    timeout_s: Annotated[
        float | None, Option("--timeout", "-t", min=0.001, metavar="SECONDS", help="Longest wait (default none).")
    ] = None,
    is_local: LocalOption = False,
    endpoint: Annotated[str | None, Option(metavar="URL", help="OpenAI-compatible endpoint; asks no server.")] = None,
    model: Annotated[str | None, Option(metavar="NAME", help="The model to ask for there.")] = None,
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

    With --local, or --endpoint and --model, this command writes the summary itself
    and asks no server. It takes --api-key-file as the endpoint's key. All other
    settings are those of `precis serve`; what is done is kept in ./summaries.
    """
    if bool(files) == (resume is not None):
        raise InputError("name a FILE to summarize, or --resume ID")
    typed = typed_options(context)
    ignored = [flag for name, flag in typed.items() if name in OF_A_BEGINNING]
    if resume is not None and ignored:
        raise InputError(f"{ignored[0]} has no effect with --resume: what was asked for stays")
    # A key in PRECIS_API_KEY_FILE is for a Precis server, and must not be sent to an endpoint.
    key_file = connection.api_key_file if "api_key_file" in typed else None
    here = named_endpoint(endpoint, model, key_file, typed, is_local=is_local)
    from server.cli.console import print_result
    from server.cli.files import result_file, to_json_fields
    from server.cli.summarize import run as work
    from server.cli.summarize.source import list_files, read_document
    from server.cli.summarize.view import print_plan

    asked, bounds = work.to_options(options), work.to_budget(budget)  # what is wrong is refused before anything is read
    target.check(list_files(files, tells_skipped=False) if files else [])
    document = read_document(files) if files else None
    async with work.open_summaries(connection, timeout_s, here) as client:
        if plan and document is not None:
            counted = await client.plan_summary(document, options=asked)
            with result_file(target.output) as file:
                print_result(counted, to_json_fields, print_plan, as_json=target.is_json, file=file)
            return
        if document is None:
            stream = client.resume_summary(resume or "", budget=bounds, timeout_s=timeout_s)
        else:
            stream = client.summarize(document, options=asked, budget=bounds, timeout_s=timeout_s)
        await work.write_summary(partial(work.follow, stream, client), client, target, document)


def named_endpoint(
    url: str | None, model: str | None, key_file: Path | None, typed: Mapping[str, str], *, is_local: bool = False
) -> dict[str, object] | None:
    """Gives --endpoint and --model as settings, none for --local; None for a server.

    Raises:
        InputError: for what does not go together.
    """
    if (url is None) != (model is None):
        raise InputError("--endpoint and --model belong together: give both or none")
    if url is None and not is_local:
        return None
    of_a_server = {"address", "tls_ca", "tls_cert", "tls_key", *(() if url else ("api_key_file",))}
    if of_server := sorted(typed.keys() & of_a_server):
        asked = f"--{'endpoint' if url else 'local'} asks no server"
        raise InputError(f"{asked}: leave {typed[of_server[0]]} out, or leave the work to that server")
    if url is None:
        return {}
    return {"base_url": url, "model": model, "api_key": None, "api_key_file": key_file}  # no key of another endpoint


def typed_options(context: typer.Context) -> dict[str, str]:
    """Returns the flags of the options that stand on the command line, and not in the environment, by their names."""
    sources = ((one, context.get_parameter_source(one.name or "")) for one in context.command.params)
    return {one.name or "": one.opts[0] for one, source in sources if source and source.name == "COMMANDLINE"}


app = typer.Typer(
    no_args_is_help=True, help="Submit summaries that run without this program; list, watch, get, stop them."
)

IdArgument = Annotated[str, Argument(metavar="ID", help="Of a summary.")]
SHOWN = "0 it is done; 1 done and flawed, with --fail-flawed; 4 it is not."


@app.command()
@command("precis summaries submit a.pdf b.docx docs/ --words 300 --form bullets")
async def submit(
    files: Annotated[list[Path], Argument(metavar="FILE|DIR...", help="Each is a document and a summary of its own.")],
    *,
    options: SummaryOptions,
    budget: BudgetOptions,
    connection: Connection,
) -> None:
    """Queue a summary of each document; prints id and name, one a line.

    The server goes on when this program has ended, and after its own restart.
    """
    from server.cli.console import shown, write
    from server.cli.summarize import run as work
    from server.cli.summarize.source import read_document

    asked, bounds = work.to_options(options), work.to_budget(budget)
    documents = [read_document([path]) for path in files]  # all are read before the first is sent
    async with work.open_summaries(connection) as client:
        for document in documents:
            queued = await client.submit_summary(document, options=asked, budget=bounds)
            write(f"{queued.summary_id}  {shown(document.name, limit=work.NAME_CHARS)}\n")


@app.command("list")
@command("precis summaries list", "precis summaries list -n 5 --json | jq -r '.summaries[].summary_id'")
async def list_(
    *,
    most: Annotated[int, Option("--most", "-n", min=1, max=1_000, help="So many, the newest first.")] = 50,
    as_json: JsonOption = False,
    connection: Connection,
) -> None:
    """List your summaries, the newest first."""
    from server.cli.console import print_result
    from server.cli.files import to_json_fields
    from server.cli.summarize.run import open_summaries, print_entries

    async with open_summaries(connection) as client:
        print_result(await client.list_summaries(most), to_json_fields, print_entries, as_json=as_json)


@app.command()
@command(
    "precis summaries check", exits="0 nothing is damaged; 1 something is; 2 a setting is wrong, or there is no file."
)
def check() -> None:
    """Look for damage in this machine's SQLite file of summaries, and say how to save what can be read."""
    import sqlite3
    from contextlib import closing

    from pipeline.summarize.storage.sqlite import NOW_S, damage
    from pipeline.summarize.storage.store import ALL_SUMMARIES, damaged_summaries
    from server.settings import load_settings

    storage = load_settings().summary_storage
    path = storage.directory / "summaries.sqlite"
    if storage.postgres_url is not None or not path.is_file():
        raise InputError(f"there is no file {path} to check; Postgres checks itself")
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            found = damage(connection)
            rows = [] if found else connection.execute(ALL_SUMMARIES.replace("NOW_S", NOW_S)).fetchall()
        except sqlite3.DatabaseError as error:
            found, rows = [str(error)], []
    for line in found:
        print_note(f"{path}: {line}")
    if found:
        new = path.with_suffix(".saved")
        raise NegativeAnswer(
            f"{path} is damaged. Stop the server, then `sqlite3 {path} .recover | sqlite3 {new}` saves what can be "
            f"read. Keep the old file with its -wal and -shm elsewhere, give {new} its name, and check again"
        )
    if ids := damaged_summaries(rows):
        raise NegativeAnswer(f"these summaries cannot be read, and go when they expire: {', '.join(ids)}")
    print_note(f"{path} is whole: {len(rows)} summaries")


@app.command()
@command("precis summaries show ID --report summary.html", exits=SHOWN)
async def show(summary_id: IdArgument, *, target: TargetOptions, connection: Connection) -> None:
    """Write a summary, as far as it is."""
    target.check()
    from server.cli.summarize.run import open_summaries, read_summary, write_summary

    async with open_summaries(connection) as client:
        await write_summary(partial(read_summary, summary_id, client), client, target)


@app.command()
@command("precis summaries watch ID -o summary.md", exits=SHOWN)
async def watch(summary_id: IdArgument, *, target: TargetOptions, connection: Connection) -> None:
    """Follow a summary to its end and write it. Ctrl+C stops watching and nothing else."""
    target.check()
    from server.cli.summarize.run import follow, open_summaries, write_summary

    async with open_summaries(connection) as client:
        followed = partial(follow, client.watch_summary(summary_id), client, is_ours=False)
        await write_summary(followed, client, target)


@app.command()
@command("precis summaries cancel ID")
async def cancel(summary_id: IdArgument, *, connection: Connection) -> None:
    """Stop a summary, wherever it runs; `precis summarize --resume ID` goes on with it."""
    from server.cli.summarize.run import open_summaries

    async with open_summaries(connection) as client:
        await client.cancel_summary(summary_id)


@app.command()
@command("precis summaries delete ID")
async def delete(summary_id: IdArgument, *, connection: Connection) -> None:
    """Delete a summary that does not run, and what only it needed."""
    from server.cli.summarize.run import open_summaries

    async with open_summaries(connection) as client:
        await client.delete_summary(summary_id)
