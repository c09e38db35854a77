"""Requests of `precis assess` and `precis synthesize`: the JSON of a file, with the options laid over it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from precis.v1 import synthesis_pb2 as pb

from server.cli.commands.assess import QuestionOptions, SubjectOptions
from server.cli.documents.read import read_document_text
from server.cli.errors import InputError
from server.cli.files import STDIN, naming, parse_message, parse_object, read_bytes, read_text

R = TypeVar("R", pb.SynthesizeRequest, pb.AssessRequest)
GLOBAL = "Global"


def synthesize_request(file: Path, options: QuestionOptions) -> pb.SynthesizeRequest:
    """Builds the request. Raises InputError."""
    return _asking(_read(file, pb.SynthesizeRequest()), options)


def assess_request(file: Path | None, subject: SubjectOptions, options: QuestionOptions) -> pb.AssessRequest:
    """Builds the request. Raises InputError."""
    if [file, subject.source, subject.summary].count(STDIN) > 1:
        raise InputError("only one of FILE.json, --source and --summary can be standard input")
    request = _asking(pb.AssessRequest() if file is None else _read(file, pb.AssessRequest()), options)
    for name in ("source", "summary"):
        if (path := getattr(subject, name)) is not None:
            setattr(request, name, read_document_text(path))
    if subject.reference is not None:
        request.reference = read_bytes(subject.reference)
    if subject.stage is not None:
        request.stage = pb.AssessStage.Value(f"ASSESS_STAGE_{subject.stage.name}")
    if subject.replans is not None:
        request.options.max_replan_iterations = subject.replans
    return request


def _asking(request: R, options: QuestionOptions) -> R:
    """Lays the options over a request."""
    request.question = options.question or request.question
    if options.mode is not None:
        request.mode = pb.SynthesisMode.Value(f"SYNTHESIS_MODE_{options.mode.name}")
    if options.choices:
        request.choices[:] = options.choices
    if options.fail_under is not None:
        _ask_for_level(request)
    if options.scope:
        named, objects = pb.QualityScope(name=GLOBAL), pb.ScopeObjects(names=options.scope)
        request.scope.CopyFrom(named if options.scope == [GLOBAL] else pb.QualityScope(objects=objects))
    if options.images:
        request.images[:] = [read_bytes(path) for path in options.images]
    if options.no_llm:
        request.options.use_language_model = False
    return request


def _ask_for_level(request: R) -> None:
    """Asks for what --fail-under looks at. Raises InputError when another kind of answer is asked for already."""
    if request.mode == pb.SYNTHESIS_MODE_EXPLANATION:
        raise InputError("--fail-under needs a level, which --mode explanation does not give: ask with --mode scoring")
    if request.choices:
        raise InputError("--fail-under needs a level, and the answer is one of the choices: leave one of them out")
    request.mode = pb.SYNTHESIS_MODE_SCORING


def _read(path: Path, request: R) -> R:
    with naming(path):
        fields = _spelled_out(parse_object(read_text(path)), request.DESCRIPTOR)
        with naming(f"no {request.DESCRIPTOR.name}"):
            return parse_message(fields, request)


def _spelled_out(fields: Mapping[str, Any], message: Descriptor) -> dict[str, Any]:
    """Gives the words of enums the names that the contract has for them: "severe" is DISTORTION_SEVERITY_SEVERE."""
    return {name: _value(value, message.fields_by_name.get(name)) for name, value in fields.items()}


def _value(value: Any, field: FieldDescriptor | None) -> Any:  # noqa: ANN401 - of JSON
    if isinstance(value, list):
        return [_value(one, field) for one in value]
    if field is not None and isinstance(value, dict) and field.message_type is not None:
        return _spelled_out(value, field.message_type)
    if field is not None and isinstance(value, str) and field.enum_type is not None:
        return _name_of(value, field.enum_type)
    return value


def _name_of(word: str, kind: EnumDescriptor) -> str:
    prefix = kind.values[0].name.removesuffix("UNSPECIFIED")
    name = prefix + word.upper().replace("-", "_")
    return name if name in kind.values_by_name else word
