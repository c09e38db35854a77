"""Puts everything found into the evidence that an answer rests on."""

from pipeline.judge.assess.plan import AssessPlan
from pipeline.judge.assess.run import AssessRun
from pipeline.judge.assess.text_findings import metric_finding, part_findings, score_findings
from pipeline.judge.synthesis.evidence import GLOBAL, Evidence, Finding, ToolScore


def gather(run: AssessRun, plan: AssessPlan) -> Evidence:
    """Returns findings and scores for the plan's scope.

    A finding of the language model, which looked, stands in place of one that only says what a score says of the same
    kind of distortion: then the two can contradict each other, and that is what replanning is for. Scores of the whole
    are left out where there are scores of the parts that the question is about; the caller's own stay.
    """
    callers = run.checked.request.tool_scores
    scores = [*callers, *(one.score for one in run.found.runs.values() if one.score)]
    analysis: dict[str, list[Finding]] = {}
    for part in plan.scope:
        found = [*_seen(run, part), *_judged(run, plan, part, scores)]
        kinds = {finding.kind.casefold() for finding in found}
        measured = [one for (scope, _), one in score_findings(scores).items() if scope == part]
        analysis[part] = [*found, *(one for one in measured if one.kind.casefold() not in kinds)]
    about = tuple(score for score in scores if score.scope in plan.scope or score in callers)
    return Evidence({part: tuple(found) or None for part, found in analysis.items()}, about or tuple(scores))


def _seen(run: AssessRun, part: str) -> tuple[Finding, ...]:
    return run.found.seen.get(part) or ()


def _judged(run: AssessRun, plan: AssessPlan, part: str, scores: list[ToolScore]) -> list[Finding]:
    """Returns what the metrics say of a part; scores of a part are added to `scores`."""
    if run.found.table is None:
        return []
    if part != GLOBAL:
        findings, measured = part_findings(part, run.found.table, is_wide=plan.is_wide)
        scores += measured
        return list(findings)
    by_metric = [
        metric_finding([result for name, result in run.found.metrics.items() if result.name.value == distortion])
        for distortion in plan.distortions
    ]
    return [finding for finding in by_metric if finding is not None]
