"""An answer about quality on the terminal: the answer, why, the evidence, and what it lacks."""

from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb
from precis.words import word_of
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.cli.console import Grid, shown, to_list

TEXT_LIMIT = 600  # characters of one foreign text
CELL_LIMIT = 160
LETTERS = "EDCBA"
STYLES = {"severe": "red", "moderate": "yellow", "uncertain": "magenta"}


def event_line(event: pb.AssessResponse) -> str:
    """Says in one line what an event tells; empty for an event that this program does not know."""
    match event.WhichOneof("event"):
        case "plan":
            plan, tools = event.plan, ", ".join(event.plan.tools) or "no tools"
            mode = word_of(pb.SynthesisMode, plan.mode)
            return f"plan {plan.iteration + 1}: {mode} of {_scope(plan)}; {tools}; {plan.reason}"
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
        console.print(evidence_grid(outcome.evidence).to_table())
    else:
        console.print(plan_list(outcome.plan))
    for note in outcome.notes:
        console.print(shown(f"note: {note}", limit=TEXT_LIMIT))
    seconds = outcome.elapsed.ToTimedelta().total_seconds()
    console.print(shown(f"{outcome.iteration_count} times planned again; {seconds:.1f} s", style="dim"))


def print_synthesis(console: Console, synthesis: pb.Synthesis) -> None:
    """Prints the answer, what it rests on, and what speaks against it."""
    console.print(shown(answer_line(synthesis), limit=TEXT_LIMIT, style="bold"))
    console.print(shown(synthesis.quality_reasoning, limit=TEXT_LIMIT))
    if synthesis.HasField("fusion"):
        console.print(fusion_line(synthesis.fusion))
    console.print(evidence_grid(synthesis.used_evidence).to_table())
    for need in synthesis.replan_needs:
        reason = word_of(pb.ReplanReason, need.reason)
        console.print(shown(f"lacking: {need.message} ({reason})", limit=TEXT_LIMIT, style="yellow"))
    if synthesis.degraded:
        console.print(shown(f"degraded: {synthesis.error}", limit=TEXT_LIMIT, style="red"))
    for note in synthesis.notes:
        console.print(shown(f"note: {note}", limit=TEXT_LIMIT))
    asked = f" after {synthesis.attempt_count} attempts" if synthesis.attempt_count else ""
    console.print(shown(f"answered by {synthesis.author}{asked}", style="dim"))


def answer_line(synthesis: pb.Synthesis) -> str:
    """Says the answer; of a level with its word and the score."""
    if not synthesis.level:
        return synthesis.final_answer
    level = word_of(fusion_pb2.QualityLevel, synthesis.level)
    return f"{synthesis.final_answer}, {level}: {synthesis.fusion.score:.2f} of 5"


def fusion_line(fusion: fusion_pb2.ScoreFusion) -> str:
    """Says what the score was fused from."""
    parts = [f"mean of the tools {fusion.tool_mean:.2f}"] if fusion.HasField("tool_mean") else []
    if fusion.HasField("agreement") or not parts:
        shares = zip(LETTERS, fusion.probabilities, strict=False)
        parts.append("levels " + " ".join(f"{letter} {share:.2f}" for letter, share in reversed(list(shares))))
    if fusion.HasField("agreement"):
        parts.append(f"agreement {fusion.agreement:.2f}")
    return "; ".join(parts)


def evidence_grid(evidence: pb.QualityEvidence) -> Grid:
    """Builds the table of findings and scores."""
    rows: list[tuple[str | Text, ...]] = []
    for part in evidence.distortion_analysis:
        for one in part.findings:
            severity = word_of(pb.DistortionSeverity, one.severity)
            rows.append((part.scope, one.kind, Text(severity, STYLES.get(severity, "")), "", one.explanation))
    rows += [(one.scope, one.aspect or "quality", "", f"{one.score:.2f}", one.tool) for one in evidence.tool_scores]
    return Grid(("part", "distortion", "severity", ">score", "by"), rows, CELL_LIMIT)


def plan_list(plan: pb.AssessmentPlan) -> Table:
    """Builds the list of what is planned."""
    facts = {
        "mode": word_of(pb.SynthesisMode, plan.mode),
        "scope": _scope(plan),
        "distortions": ", ".join(plan.distortions),
        "tools": ", ".join(plan.tools),
        "reason": plan.reason,
        "by": plan.author,
    }
    return to_list((name, shown(fact, limit=TEXT_LIMIT)) for name, fact in facts.items())


def _scope(plan: pb.AssessmentPlan) -> str:
    return ", ".join(plan.scope.objects.names) or plan.scope.name
