"""`precis prompts`: the prompts of language models, as they are shipped and as a folder of one's own changes them.

`precis llm`: what the endpoints of language models can, as the settings name them.
"""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from server.cli.commands.serve import SettingsOption
from server.cli.commands.summarize import named_endpoint
from server.cli.console import Grid, output_console, print_json, write
from server.cli.errors import InputError
from server.cli.options import JsonOption, TimeoutOption, command

if TYPE_CHECKING:
    from pipeline.prompts.prompts import Prompts

prompts = typer.Typer(no_args_is_help=True, help="List, show, compare and check the prompts of language models.")
llm = typer.Typer(no_args_is_help=True, help="Try the language models that the server asks.")

FolderOption = Annotated[
    Path | None,
    Option("--dir", envvar="PRECIS_LLM__PROMPTS_DIR", metavar="DIR", help="Folder with prompts of your own."),
]
CHECKED = "0 done; 2 a prompt is wrong, or none has the name."


@prompts.command("list")
@command("precis prompts list", "precis prompts list --dir ours --json", exits=CHECKED)
def list_(*, folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """List the prompts, and the version of them together that answers name."""
    own, ours = _read(folder), _read(None)
    origins = {name: "shipped" if prompt == ours[name] else str(folder) for name, prompt in own.items()}
    rows = [
        {"name": name, "role": one.role, "version": one.version, "asks": one.asks, "origin": origins[name]}
        for name, one in own.items()
    ]
    if as_json:
        print_json(rows)
        return
    output_console().print(Grid(tuple(rows[0]), [tuple(row.values()) for row in rows], 60).to_table())
    for title, roles in (("Summarize", ("writer", "critic")), ("Judge", ("judge",)), ("Synthesize", ("synthesizer",))):
        write(f"{title}: {own.identity(*roles)}\n")


@prompts.command()
@command("precis prompts show map", "precis prompts show map --example", exits=CHECKED)
def show(
    name: Annotated[str, Argument(metavar="NAME", help="As `precis prompts list` has it.")],
    *,
    folder: FolderOption = None,
    is_example: Annotated[bool, Option("--example", help="Fill its variables with their examples.")] = False,
) -> None:
    """Print one prompt, as its file has it."""
    own = _read(folder)
    if name not in own:
        raise InputError(f"NAME: expected one of {', '.join(own)}, got {name}")
    prompt = own[name]
    filled = (f"--- {one}\n{prompt.fill(one, **prompt.examples)}\n" for one in prompt.sections)
    write("\n".join(filled) if is_example else prompt.text)


@prompts.command()
@command("precis prompts diff --dir ours", exits=CHECKED)
def diff(*, folder: FolderOption = None) -> None:
    """Print what the folder's prompts change in the shipped ones."""
    own, ours = _read(folder), _read(None)
    for name, prompt in own.items():
        for section, body in prompt.sections.items():
            before, after = (f"{text}\n".splitlines(keepends=True) for text in (ours[name].sections[section], body))
            place = f"{name}, {section}"
            write("".join(difflib.unified_diff(before, after, f"shipped {place}", f"{folder} {place}")))


@prompts.command()
@command("precis prompts check --dir ours", exits=CHECKED)
def check(*, folder: FolderOption = None) -> None:
    """Check a folder as a server does at start: names, sections, variables, fences, length."""
    own, ours = _read(folder), _read(None)
    changed = [name for name, prompt in own.items() if prompt != ours[name]]
    write(f"{folder or 'shipped'}: {len(changed)} prompts of its own: {', '.join(changed) or 'none'}\n")


def _read(folder: Path | None) -> "Prompts":
    from pipeline.prompts.prompts import PromptError, Prompts

    try:
        return Prompts(folder)
    except OSError as error:
        raise InputError(f"cannot read {error.filename}: {error.strerror}") from error
    except (PromptError, UnicodeDecodeError) as error:
        raise InputError(str(error)) from error


@llm.command("check")
@command(
    "precis llm check",
    "precis llm check --settings precis.toml --json | jq '.[].problems'",
    "precis llm check --endpoint http://127.0.0.1:8080/v1 --model qwen3",
    exits="0 all that is needed is there; 1 a model cannot be used; 2 a setting is wrong, or none names an endpoint.",
)
async def check_models(
    *,
    endpoint: Annotated[str | None, Option("--endpoint", metavar="URL", help="Ask this endpoint alone.")] = None,
    model: Annotated[str | None, Option("--model", metavar="NAME", help="The model to ask for there.")] = None,
    key_file: Annotated[Path | None, Option("--api-key-file", metavar="FILE", help="That endpoint's key.")] = None,
    words: Annotated[int, Option("--words", min=1, max=1_000_000, help="Length of the document to price.")] = 10_000,
    settings_file: SettingsOption = None,
    as_json: JsonOption = False,
    timeout_s: TimeoutOption = 120.0,
) -> None:
    """Ask each language model some small questions: what it can, how fast it is, what it costs.

    Asked are the models of all roles, as `precis serve` would read the settings now;
    roles that share one are asked once. A model that cannot be used is told with the
    setting to change. Each question is answered in at most --timeout seconds.
    """
    named = named_endpoint(endpoint, model, key_file, {})
    if key_file and named is None:
        raise InputError("--api-key-file is the key of --endpoint: name that too, or set llm.api_key_file")
    from server.cli.run import llm_check

    await llm_check.check_models(named, settings_file, words=words, as_json=as_json, timeout_s=timeout_s)
