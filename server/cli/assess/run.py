"""Asks the server for an answer about quality, follows what it does, and prints what came of it."""

from contextlib import aclosing
from pathlib import Path

from precis.calls import JUDGE, Call, rpc_path
from precis.v1 import synthesis_pb2 as pb

from server.cli.assess.request import assess_request, synthesize_request
from server.cli.assess.table import event_line, print_assessment, print_synthesis
from server.cli.commands.assess import LevelChoice, QuestionOptions, SubjectOptions
from server.cli.connection import open_client
from server.cli.console import output_console, print_json, print_note
from server.cli.errors import CliError, NegativeAnswer
from server.cli.files import to_json_fields
from server.cli.options import Connection


async def synthesize_file(file: Path, options: QuestionOptions, connection: Connection) -> None:
    """Reads, asks, prints. Raises CliError."""
    request = synthesize_request(file, options)
    call = Call(rpc_path(JUDGE, "Synthesize"), request, pb.SynthesizeResponse.FromString)
    async with open_client(connection, options.timeout_s) as client:
        synthesis = (await client.send(call)).synthesis
    if options.as_json:
        print_json(to_json_fields(synthesis))
    else:
        print_synthesis(output_console(), synthesis)
    _check(synthesis, options.fail_under)


async def assess_subject(
    file: Path | None, subject: SubjectOptions, options: QuestionOptions, connection: Connection
) -> None:
    """Reads, asks, says what happens, prints. Raises CliError."""
    request, outcome = assess_request(file, subject, options), None
    call = Call(rpc_path(JUDGE, "Assess"), request, pb.AssessResponse.FromString)
    async with open_client(connection, options.timeout_s) as client, aclosing(client.stream(call)) as events:
        async for event in events:
            if event.HasField("assessment"):
                outcome = event.assessment
            elif line := event_line(event):
                print_note(line)
    if outcome is None:
        raise CliError("the server ended the stream without an outcome")
    if options.as_json:
        print_json(to_json_fields(outcome))
    else:
        print_assessment(output_console(), outcome)
    if outcome.HasField("synthesis"):
        _check(outcome.synthesis, options.fail_under)


def _check(synthesis: pb.Synthesis, floor: LevelChoice | None) -> None:
    """Raises NegativeAnswer for a level under the floor, and CliError when nobody could answer."""
    if floor is not None and (not synthesis.level or synthesis.final_answer > floor.value):
        raise NegativeAnswer(f"under the limit: {synthesis.final_answer if synthesis.level else 'no level'} < {floor}")
    if synthesis.error and not synthesis.degraded:
        raise CliError(f"no answer: {synthesis.error}")
