"""Asks for an answer about quality: the JSON of a file with the options laid over it, and what came of it."""

from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from precis.calls import JUDGE, Call, rpc_path
from precis.v1 import synthesis_pb2 as pb

from server.cli.assess.question import Level, QuestionOptions, SubjectOptions
from server.cli.assess.table import event_line, print_assessment, print_synthesis
from server.cli.connection import open_client
from server.cli.console import output_console, print_json, print_note
from server.cli.documents.read import read_document_text
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.files import STDIN, naming, parse_message, parse_object, read_bytes, read_text, to_json_fields
from server.cli.options import Connection

R = TypeVar("R", pb.SynthesizeRequest, pb.AssessRequest)
GLOBAL = "Global"


def assess_request(file: Path | None, subject: SubjectOptions, options: QuestionOptions) -> pb.AssessRequest:
    """Builds the request. Raises InputError."""
    if [file, subject.source, subject.summary].count(STDIN) > 1:
        raise InputError("only one of FILE.json, --source and --summary can be standard input")
    request = asking(pb.AssessRequest(), file, options)
    for name in ("source", "summary"):
        if (path := getattr(subject, name)) is not None:
            setattr(request, name, read_document_text(path))
    if subject.reference is not None:
        request.reference = read_bytes(subject.reference)
    return request


def asking(request: R, file: Path | None, options: QuestionOptions) -> R:
    """Fills a request from a file, if there is one, and lays the options over it. Raises InputError."""
    if file is not None:
        with naming(file):
            fields = _spelled_out(parse_object(read_text(file)), request.DESCRIPTOR)
            with naming(f"no {request.DESCRIPTOR.name}"):
                parse_message(fields, request)
    request.question = options.question or request.question
    if options.mode is not None:
        request.mode = pb.SynthesisMode.Value(f"SYNTHESIS_MODE_{options.mode.upper()}")
    if options.choices:
        request.choices[:] = options.choices
    if options.scope:
        named, objects = pb.QualityScope(name=GLOBAL), pb.ScopeObjects(names=options.scope)
        request.scope.CopyFrom(named if options.scope == [GLOBAL] else pb.QualityScope(objects=objects))
    if options.images:
        request.images[:] = [read_bytes(path) for path in options.images]
    if options.fail_under is not None:
        if request.mode == pb.SYNTHESIS_MODE_EXPLANATION:
            raise InputError(
                "--fail-under needs a level, which --mode explanation does not give: ask with --mode scoring"
            )
        if request.choices:
            raise InputError("--fail-under needs a level, and the answer is one of the choices: leave one of them out")
        request.mode = pb.SYNTHESIS_MODE_SCORING
    return request


def _spelled_out(fields: Mapping[str, Any], message: Descriptor) -> dict[str, Any]:
    """Gives the words of enums the names that the contract has for them: "severe" is DISTORTION_SEVERITY_SEVERE."""
    return {name: _value(value, message.fields_by_name.get(name)) for name, value in fields.items()}


def _value(value: Any, field: FieldDescriptor | None) -> Any:  # noqa: ANN401 - of JSON
    if isinstance(value, list):
        return [_value(one, field) for one in value]
    if field is not None and isinstance(value, dict) and field.message_type is not None:
        return _spelled_out(value, field.message_type)
    if field is not None and isinstance(value, str) and field.enum_type is not None:
        prefix = field.enum_type.values[0].name.removesuffix("UNSPECIFIED")
        name = prefix + value.upper().replace("-", "_")
        return name if name in field.enum_type.values_by_name else value
    return value


async def synthesize_file(file: Path, options: QuestionOptions, connection: Connection) -> None:
    """Reads, asks, prints. Raises CliError."""
    request = asking(pb.SynthesizeRequest(), file, options)
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


def _check(synthesis: pb.Synthesis, floor: Level | None) -> None:
    """Raises NegativeAnswer for a level under the floor, and CliError when nobody could answer."""
    if floor is not None and (not synthesis.level or synthesis.final_answer > floor):
        raise NegativeAnswer(f"under the limit: {synthesis.final_answer if synthesis.level else 'no level'} < {floor}")
    if synthesis.error and not synthesis.degraded:
        raise CliError(f"no answer: {synthesis.error}")
