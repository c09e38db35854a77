"""`precis assess` and `precis synthesize`: options and help. The work is in `cli.assess`."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from server.cli.errors import InputError
from server.cli.options import Connection, JsonOption, TimeoutOption, with_options


class AnswerMode(StrEnum):
    """Kinds of answers."""

    EXPLANATION = "explanation"
    SCORING = "scoring"


class LastStep(StrEnum):
    """How far an assessment goes."""

    PLAN = "plan"
    EVIDENCE = "evidence"
    ANSWER = "answer"


class LevelChoice(StrEnum):
    """Levels of quality, from the best."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    E = "E"


@dataclass(frozen=True)
class QuestionOptions:
    """What `precis assess` and `precis synthesize` ask; what is set stands above the file."""

    question: Annotated[str, typer.Option("--question", "-q", metavar="TEXT", help="What to answer.")] = ""
    mode: Annotated[AnswerMode | None, typer.Option("--mode", help="Kind of answer.")] = None
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
        LevelChoice | None, typer.Option("--fail-under", help="Ask for a level; exit with 1 when it is under this.")
    ] = None
    as_json: JsonOption = False
    timeout_s: TimeoutOption = 300.0


@with_options
def synthesize(
    file: Annotated[Path, typer.Argument(metavar="FILE.json|-", help="Evidence and scores; - reads stdin.")],
    *,
    question: QuestionOptions,
    connection: Connection,
) -> None:
    """Answer a question about quality from evidence and tool scores that you have.

    [bold]FILE.json[/] is a SynthesizeRequest of the contract, for example

      {"question": "How good is it?", "mode": "scoring", "evidence": {
      "distortion_analysis": [{"scope": "Global", "findings": [
      {"kind": "Blurs", "severity": "moderate"}]}],
      "tool_scores": [{"tool": "TOPIQ_FR", "aspect": "Blurs", "score": 2.6}]}}

    Scores go from 1 to 5, levels from A (excellent) to E (bad). Only what is said
    of the asked scope counts. What the evidence lacks is told with the answer.

    [bold]Examples[/]

      precis synthesize evidence.json

      precis synthesize evidence.json --scope car --image car.png --fail-under C

      precis synthesize - -q "What is wrong?" --mode explanation --json < evidence.json

    [bold]Exit codes[/]  0 done; 1 the level is under --fail-under, or there is none; 2 the
    input has to change; 3 the server cannot be reached, is full or too slow;
    4 anything else, such as nothing to answer from; 130 Ctrl+C.
    """
    from server.cli.assess.run import synthesize_file

    asyncio.run(synthesize_file(file, question, connection))


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
    stage: Annotated[LastStep | None, typer.Option("--stage", help="The last step to take (default answer).")] = None
    replans: Annotated[
        int | None, typer.Option("--replans", min=0, max=5, help="How often to plan again (default 2).")
    ] = None


@with_options
def assess(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE.json|-", help="An AssessRequest; options stand above it.")
    ] = None,
    *,
    subject: SubjectOptions,
    question: QuestionOptions,
    connection: Connection,
) -> None:
    """Assess the quality of a summary or an image: plan, run tools, answer, and plan again.

    Says on stderr what is planned, measured, found and answered, as it happens.
    It plans again while evidence is missing, uncertain or contradicts itself.
    --stage plan and --stage evidence stop before the answer.

    [bold]Examples[/]

      precis assess -q "How good is this summary?" --source a.txt --summary s.txt

      precis assess -q "Is the picture sharp?" -i car.jpg --fail-under B

      precis assess -q "How good is it?" -i bad.png --reference good.png --json

      precis assess request.json --stage plan

    [bold]Exit codes[/]  0 done; 1 the level is under --fail-under, or there is none; 2 the
    input has to change; 3 the server cannot be reached, is full or too slow;
    4 anything else, such as nothing to answer from; 130 Ctrl+C.
    """
    if file is None and not question.question:
        raise InputError("nothing to assess: give --question, or FILE.json")
    from server.cli.assess.run import assess_subject

    asyncio.run(assess_subject(file, subject, question, connection))
