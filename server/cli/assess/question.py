"""The options of `precis assess` and `precis synthesize`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from server.cli.options import JsonOption, TimeoutOption

Level = Literal["A", "B", "C", "D", "E"]
"""Levels of quality, from the best."""


@dataclass(frozen=True)
class QuestionOptions:
    """What `precis assess` and `precis synthesize` ask; what is set stands above the file."""

    question: Annotated[str, Option("--question", "-q", metavar="TEXT", help="What to answer.")] = ""
    mode: Annotated[Literal["explanation", "scoring"] | None, Option("--mode", help="Kind of answer.")] = None
    choices: Annotated[
        list[str] | None, Option("--choice", metavar="TEXT", help="An answer to choose from. Repeatable.")
    ] = None
    scope: Annotated[
        list[str] | None, Option("--scope", metavar="NAME", help="Part it is about (default all). Repeatable.")
    ] = None
    images: Annotated[
        list[Path] | None, Option("--image", "-i", metavar="FILE", help="PNG, JPEG or WebP. Repeatable.")
    ] = None
    fail_under: Annotated[
        Level | None, Option("--fail-under", help="Ask for a level; exit with 1 when it is under this.")
    ] = None
    as_json: JsonOption = False
    timeout_s: TimeoutOption = 300.0


@dataclass(frozen=True)
class SubjectOptions:
    """What `precis assess` looks at."""

    source: Annotated[
        Path | None, Option("--source", metavar="TXT|PDF", help="The source of the summary; - reads stdin.")
    ] = None
    summary: Annotated[
        Path | None, Option("--summary", "-s", metavar="TXT|PDF", help="The summary to assess; - reads stdin.")
    ] = None
    reference: Annotated[
        Path | None, Option("--reference", metavar="FILE", help="The undistorted original of the first image.")
    ] = None
