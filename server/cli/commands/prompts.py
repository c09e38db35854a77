"""`precis prompts`: the prompts of language models, as they are shipped and as a folder of one's own changes them."""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from server.cli.console import Grid, output_console, print_json, write
from server.cli.errors import InputError
from server.cli.options import JsonOption, command

if TYPE_CHECKING:
    from pipeline.prompts.prompts import Prompts

app = typer.Typer(no_args_is_help=True, help="List, show, compare and check the prompts of language models.")

FolderOption = Annotated[
    Path | None,
    Option("--dir", envvar="PRECIS_LLM__PROMPTS_DIR", metavar="DIR", help="Folder with prompts of your own."),
]
CHECKED = "0 done; 2 a prompt is wrong, or none has the name."


@app.command("list")
@command("precis prompts list", "precis prompts list --dir ours --json", exits=CHECKED)
def list_prompts(*, folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """List the prompts, and the version of them together that answers name."""
    prompts, ours = _read(folder), _read(None)
    origins = {name: "shipped" if prompt == ours[name] else str(folder) for name, prompt in prompts.items()}
    rows = [
        {"name": name, "role": one.role, "version": one.version, "asks": one.asks, "origin": origins[name]}
        for name, one in prompts.items()
    ]
    if as_json:
        print_json(rows)
        return
    output_console().print(Grid(tuple(rows[0]), [tuple(row.values()) for row in rows], 60).to_table())
    for title, roles in (("Summarize", ("writer", "critic")), ("Judge", ("judge",)), ("Synthesize", ("synthesizer",))):
        write(f"{title}: {prompts.identity(*roles)}\n")


@app.command()
@command("precis prompts show map", "precis prompts show map --example", exits=CHECKED)
def show(
    name: Annotated[str, Argument(metavar="NAME", help="As `precis prompts list` has it.")],
    *,
    folder: FolderOption = None,
    is_example: Annotated[bool, Option("--example", help="Fill its variables with their examples.")] = False,
) -> None:
    """Print one prompt, as its file has it."""
    prompts = _read(folder)
    if name not in prompts:
        raise InputError(f"NAME: expected one of {', '.join(prompts)}, got {name}")
    prompt = prompts[name]
    filled = (f"--- {one}\n{prompt.fill(one, **prompt.examples)}\n" for one in prompt.sections)
    write("\n".join(filled) if is_example else prompt.text)


@app.command()
@command("precis prompts diff --dir ours", exits=CHECKED)
def diff(*, folder: FolderOption = None) -> None:
    """Print what the folder's prompts change in the shipped ones."""
    prompts, ours = _read(folder), _read(None)
    for name, prompt in prompts.items():
        for section, body in prompt.sections.items():
            before, after = (f"{text}\n".splitlines(keepends=True) for text in (ours[name].sections[section], body))
            place = f"{name}, {section}"
            write("".join(difflib.unified_diff(before, after, f"shipped {place}", f"{folder} {place}")))


@app.command()
@command("precis prompts check --dir ours", exits=CHECKED)
def check(*, folder: FolderOption = None) -> None:
    """Check a folder as a server does at start: names, sections, variables, fences, length."""
    prompts, ours = _read(folder), _read(None)
    own = [name for name, prompt in prompts.items() if prompt != ours[name]]
    write(f"{folder or 'shipped'}: {len(own)} prompts of its own: {', '.join(own) or 'none'}\n")


def _read(folder: Path | None) -> "Prompts":
    from pipeline.prompts.prompts import PromptError, Prompts

    try:
        return Prompts(folder)
    except (PromptError, OSError, UnicodeDecodeError) as error:
        raise InputError(str(error)) from error
