"""`precis assess` and `precis synthesize`: their options and help. The work is in `server/cli/assessments.py`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from server.cli.errors import InputError
from server.cli.options import Connection, JsonOption, TimeoutOption, command, exit_codes

Level = Literal["A", "B", "C", "D", "E"]
"""Levels of quality, from the best."""


@dataclass(frozen=True)
class QuestionOptions:
    """What `precis assess` and `precis synthesize` ask; what is set stands above the file."""

    question: Annotated[str, Option("--question", "-q", metavar="TEXT", help="What to answer.")] = ""
    images: Annotated[
        list[Path] | None, Option("--image", "-i", metavar="FILE", help="PNG, JPEG or WebP. Repeatable.")
    ] = None
    fail_under: Annotated[Level | None, Option(help="Ask for a level; exit with 1 when it is under this.")] = None
    as_json: JsonOption = False
    timeout_s: TimeoutOption = 300.0


@dataclass(frozen=True)
class SubjectOptions:
    """What `precis assess` looks at."""

    source: Annotated[Path | None, Option(metavar="TXT|PDF", help="The source of the summary; - reads stdin.")] = None
    summary: Annotated[
        Path | None, Option("--summary", "-s", metavar="TXT|PDF", help="The summary to assess; - reads stdin.")
    ] = None
    reference: Annotated[Path | None, Option(metavar="FILE", help="The original of the first image.")] = None


@command(
    "precis synthesize evidence.json",
    "precis synthesize evidence.json --image car.png --fail-under C",
    'precis synthesize - -q "How good is it?" --json < evidence.json',
    exits=exit_codes("the level is under --fail-under, or there is none", "nothing to answer from"),
)
async def synthesize(
    file: Annotated[Path, Argument(metavar="FILE.json|-", help="Evidence and scores; - reads stdin.")],
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
    """
    from server.cli.assessments import synthesize_file

    await synthesize_file(file, question, connection)


@command(
    'precis assess -q "How good is this summary?" --source a.txt --summary s.txt',
    'precis assess -q "Is the picture sharp?" -i car.jpg --fail-under B',
    'precis assess -q "How good is it?" -i bad.png --reference good.png --json',
    "precis assess request.json",
    exits=exit_codes("the level is under --fail-under, or there is none", "nothing to answer from"),
)
async def assess(
    file: Annotated[Path | None, Argument(metavar="FILE.json|-", help="An AssessRequest; options win.")] = None,
    *,
    subject: SubjectOptions,
    question: QuestionOptions,
    connection: Connection,
) -> None:
    """Assess the quality of a summary or an image: plan, run tools, answer, and plan again.

    Says on stderr what is planned, measured, found and answered, as it happens.
    It plans again while evidence is missing, uncertain or contradicts itself.
    [bold]FILE.json[/] may set "stage" to "plan" or "evidence", to stop before the answer,
    and what else an AssessRequest of the contract has.
    """
    if file is None and not (question.question and (question.images or (subject.source and subject.summary))):
        raise InputError("nothing to assess: give --question with --image, or --source and --summary; or FILE.json")
    from server.cli.assessments import assess_subject

    await assess_subject(file, subject, question, connection)
