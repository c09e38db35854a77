"""Asks for an answer about quality, and shows it: why, the evidence, and what it lacks.

A request is the JSON of a file with the options laid over it.
"""

from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, EnumDescriptor
from precis.calls import JUDGE, Call, rpc_path
from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb
from precis.words import word_of
from rich.console import Console
from rich.text import Text

from server.cli.commands.assess import Level, QuestionOptions, SubjectOptions
from server.cli.connection import open_client
from server.cli.console import Grid, print_note, print_result, shown
from server.cli.documents.read import read_document_text
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.files import naming, parse_message, read_bytes, read_object, to_json_fields
from server.cli.options import Connection, check_files

R = TypeVar("R", pb.SynthesizeRequest, pb.AssessRequest)


def asking(request: R, file: Path | None, options: QuestionOptions) -> R:
    """Fills a request from a file, if there is one, and lays the options over it. Raises InputError."""
    if file is not None:
        fields = _spelled_out(read_object(file), request.DESCRIPTOR, None)
        with naming(f"{file}: no {request.DESCRIPTOR.name}"):
            parse_message(fields, request)
    request.question = options.question or request.question
    if options.images:
        request.images[:] = [read_bytes(path) for path in options.images]
    if options.fail_under is not None:
        if request.mode == pb.SYNTHESIS_MODE_EXPLANATION:
            raise InputError("--fail-under needs a level, which an explanation does not give: leave one of them out")
        if request.choices:
            raise InputError("--fail-under needs a level, and the answer is one of the choices: leave one of them out")
        request.mode = pb.SYNTHESIS_MODE_SCORING
    return request


def _spelled_out(value: Any, message: Descriptor | None, enum: EnumDescriptor | None) -> Any:  # noqa: ANN401 - of JSON
    """Gives the words of enums the names that the contract has for them: "severe" is DISTORTION_SEVERITY_SEVERE."""
    if isinstance(value, list):
        return [_spelled_out(one, message, enum) for one in value]
    if isinstance(value, dict) and message is not None:
        fields = message.fields_by_name
        kinds = {name: (fields[name].message_type, fields[name].enum_type) for name in value.keys() & fields.keys()}
        return {name: _spelled_out(one, *kinds.get(name, (None, None))) for name, one in value.items()}
    if isinstance(value, str) and enum is not None:
        name = enum.values[0].name.removesuffix("UNSPECIFIED") + value.upper().replace("-", "_")
        return name if name in enum.values_by_name else value
    return value


async def synthesize_file(file: Path, options: QuestionOptions, connection: Connection) -> None:
    """Reads, asks, prints. Raises CliError."""
    request = asking(pb.SynthesizeRequest(), file, options)
    call = Call(rpc_path(JUDGE, "Synthesize"), request, pb.SynthesizeResponse.FromString)
    async with open_client(connection, options.timeout_s) as client:
        synthesis = (await client.send(call)).synthesis
    print_result(synthesis, to_json_fields, print_synthesis, as_json=options.as_json)
    _check(synthesis, options.fail_under)


async def assess_subject(
    file: Path | None, subject: SubjectOptions, options: QuestionOptions, connection: Connection
) -> None:
    """Reads, asks, says what happens, prints. Raises CliError."""
    read = (file, subject.source, subject.summary, subject.reference, *(options.images or ()))
    check_files(list(filter(None, read)))
    request, outcome = asking(pb.AssessRequest(), file, options), None
    for name in ("source", "summary"):
        if (path := getattr(subject, name)) is not None:
            setattr(request, name, read_document_text(path))
    if subject.reference is not None:
        request.reference = read_bytes(subject.reference)
    call = Call(rpc_path(JUDGE, "Assess"), request, pb.AssessResponse.FromString)
    async with open_client(connection, options.timeout_s) as client, aclosing(client.stream(call)) as events:
        async for event in events:
            if event.HasField("assessment"):
                outcome = event.assessment
            elif line := event_line(event):
                print_note(line)
    if outcome is None:
        raise CliError("the server ended the stream without an outcome")
    print_result(outcome, to_json_fields, print_assessment, as_json=options.as_json)
    if outcome.HasField("synthesis"):
        _check(outcome.synthesis, options.fail_under)


def _check(synthesis: pb.Synthesis, floor: Level | None) -> None:
    """Raises NegativeAnswer for a level under the floor, and CliError when nobody could answer."""
    if floor is not None and (not synthesis.level or synthesis.final_answer > floor):
        raise NegativeAnswer(f"under the limit: {synthesis.final_answer if synthesis.level else 'no level'} < {floor}")
    if synthesis.error and not synthesis.degraded:
        raise CliError(f"no answer: {synthesis.error}")


TEXT_LIMIT = 600  # characters of one foreign text
CELL_LIMIT = 160
STYLES = {"severe": "red", "moderate": "yellow", "uncertain": "magenta"}


def event_line(event: pb.AssessResponse) -> str:
    """Says in one line what an event tells; empty for an event that this program does not know."""
    match event.WhichOneof("event"):
        case "plan":
            return _plan_line(event.plan)
        case "tool":
            run = event.tool
            measured = f"{run.score.score:.2f} of 5 for {run.score.scope} (measured {run.raw:.4g})"
            return f"tool {run.tool}: {run.error or measured}"
        case "evidence":
            evidence = event.evidence.evidence
            findings = sum(len(part.findings) for part in evidence.distortion_analysis)
            return f"evidence: {findings} findings, {len(evidence.tool_scores)} scores"
        case "synthesis":
            answer = event.synthesis.synthesis
            again = f"; again, for: {answer.replan_reason}" if event.synthesis.begins_again else ""
            return f"answer {event.synthesis.iteration + 1}: {answer.final_answer[:CELL_LIMIT]}{again}"
    return ""


def print_assessment(console: Console, outcome: pb.Assessment) -> None:
    """Prints the answer; of an assessment that stops before it, the evidence or the plan."""
    if outcome.HasField("synthesis"):
        print_synthesis(console, outcome.synthesis)
    elif outcome.HasField("evidence"):
        console.print(_evidence_grid(outcome.evidence).to_table())
    else:
        sought = ", ".join(outcome.plan.distortions)
        _say(console, "", _plan_line(outcome.plan), f"distortions: {sought}", f"planned by {outcome.plan.author}")
    _say(console, "", *(f"note: {note}" for note in outcome.notes))
    seconds = outcome.elapsed.ToTimedelta().total_seconds()
    _say(console, "dim", f"{outcome.iteration_count} times planned again; {seconds:.1f} s")


def _say(console: Console, style: str, *lines: str) -> None:
    for line in filter(None, lines):
        console.print(shown(line, limit=TEXT_LIMIT, style=style))


def print_synthesis(console: Console, synthesis: pb.Synthesis) -> None:
    """Prints the answer, what it rests on, and what speaks against it."""
    worst, asked = synthesis.worst_distortion, synthesis.attempt_count
    level = word_of(fusion_pb2.QualityLevel, synthesis.level)
    scored = f", {level}: {synthesis.fusion.score:.2f} of 5" if synthesis.level else ""
    _say(console, "bold", f"{synthesis.final_answer}{scored}")
    fused = _fusion_line(synthesis.fusion) if synthesis.HasField("fusion") else ""
    _say(console, "", synthesis.quality_reasoning, fused)
    if synthesis.HasField("worst_distortion"):
        _say(console, "", f"in place of the mean: {worst.kind or 'quality'} in {worst.scope}, {worst.score:.2f}")
    console.print(_evidence_grid(synthesis.used_evidence).to_table())
    needs = ((need.message, word_of(pb.ReplanReason, need.reason)) for need in synthesis.replan_needs)
    _say(console, "yellow", *(f"lacking: {message} ({reason})" for message, reason in needs))
    _say(console, "red", f"degraded: {synthesis.error}" if synthesis.degraded else "")
    _say(console, "", *(f"note: {note}" for note in synthesis.notes))
    _say(console, "dim", f"answered by {synthesis.author}{f' after {asked} attempts' if asked else ''}")


def _fusion_line(fusion: fusion_pb2.ScoreFusion) -> str:
    parts = [f"mean of the tools {fusion.tool_mean:.2f}"] if fusion.HasField("tool_mean") else []
    if fusion.HasField("agreement") or not parts:
        shares = zip("ABCDE", reversed(fusion.probabilities), strict=False)
        parts.append("levels " + " ".join(f"{letter} {share:.2f}" for letter, share in shares))
    if fusion.HasField("agreement"):
        parts.append(f"agreement {fusion.agreement:.2f}")
    return "; ".join(parts)


def _evidence_grid(evidence: pb.QualityEvidence) -> Grid:
    rows: list[tuple[str | Text, ...]] = []
    for part in evidence.distortion_analysis:
        for one in part.findings:
            severity = word_of(pb.DistortionSeverity, one.severity)
            rows.append((part.scope, one.kind, Text(severity, STYLES.get(severity, "")), "", one.explanation))
    rows += [(one.scope, one.aspect or "quality", "", f"{one.score:.2f}", one.tool) for one in evidence.tool_scores]
    return Grid(("part", "distortion", "severity", ">score", "by"), rows, CELL_LIMIT)


def _plan_line(plan: pb.AssessmentPlan) -> str:
    scope, tools = ", ".join(plan.scope.objects.names) or plan.scope.name, ", ".join(plan.tools) or "no tools"
    return f"plan {plan.iteration + 1}: {word_of(pb.SynthesisMode, plan.mode)} of {scope}; {tools}; {plan.reason}"
