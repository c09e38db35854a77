"""`precis assess` and `precis synthesize`: their help. The work is in `cli.assess`."""

import asyncio
from pathlib import Path
from typing import Annotated

from typer import Argument

from server.cli.assess.question import QuestionOptions, SubjectOptions
from server.cli.errors import InputError
from server.cli.options import Connection, command, exit_codes


@command(
    "precis synthesize evidence.json",
    "precis synthesize evidence.json --scope car --image car.png --fail-under C",
    'precis synthesize - -q "What is wrong?" --mode explanation --json < evidence.json',
    exits=exit_codes("the level is under --fail-under, or there is none", "nothing to answer from"),
)
def synthesize(
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
    from server.cli.assess.run import synthesize_file

    asyncio.run(synthesize_file(file, question, connection))


@command(
    'precis assess -q "How good is this summary?" --source a.txt --summary s.txt',
    'precis assess -q "Is the picture sharp?" -i car.jpg --fail-under B',
    'precis assess -q "How good is it?" -i bad.png --reference good.png --json',
    "precis assess request.json",
    exits=exit_codes("the level is under --fail-under, or there is none", "nothing to answer from"),
)
def assess(
    file: Annotated[
        Path | None, Argument(metavar="FILE.json|-", help="An AssessRequest; options stand above it.")
    ] = None,
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
    if file is None and not question.question:
        raise InputError("nothing to assess: give --question, or FILE.json")
    from server.cli.assess.run import assess_subject

    asyncio.run(assess_subject(file, subject, question, connection))
