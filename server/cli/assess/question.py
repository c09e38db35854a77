"""The options of `precis assess` and `precis synthesize`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from server.cli.options import JsonOption, TimeoutOption

Level = Literal["A", "B", "C", "D", "E"]
"""Levels of quality, from the best."""


@dataclass(frozen=True)
class QuestionOptions:
    """What `precis assess` and `precis synthesize` ask; what is set stands above the file."""

    question: Annotated[str, typer.Option("--question", "-q", metavar="TEXT", help="What to answer.")] = ""
    mode: Annotated[Literal["explanation", "scoring"] | None, typer.Option("--mode", help="Kind of answer.")] = None
    choices: Annotated[
        list[str] | None, typer.Option("--choice", metavar="TEXT", help="An answer to choose from. Repeatable.")
    ] = None
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="NAME", help="Part it is about (default all). Repeatable.")
    ] = None
    images: Annotated[
        list[Path] | None, typer.Option("--image", "-i", metavar="FILE", help="PNG, JPEG or WebP. Repeatable.")
    ] = None
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Do not ask the server's language models.")] = False
    fail_under: Annotated[
        Level | None, typer.Option("--fail-under", help="Ask for a level; exit with 1 when it is under this.")
    ] = None
    as_json: JsonOption = False
    timeout_s: TimeoutOption = 300.0


@dataclass(frozen=True)
class SubjectOptions:
    """What `precis assess` looks at, and how far it goes."""

    source: Annotated[
        Path | None, typer.Option("--source", metavar="TXT|PDF", help="The source of the summary; - reads stdin.")
    ] = None
    summary: Annotated[
        Path | None, typer.Option("--summary", "-s", metavar="TXT|PDF", help="The summary to assess; - reads stdin.")
    ] = None
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="FILE", help="The undistorted original of the first image.")
    ] = None
    stage: Annotated[
        Literal["plan", "evidence", "answer"] | None,
        typer.Option("--stage", help="The last step to take (default answer)."),
    ] = None
    replans: Annotated[
        int | None, typer.Option("--replans", min=0, max=5, help="How often to plan again (default 2).")
    ] = None
