"""The executor: runs the tools of a plan that have not run yet, and gathers what they found as evidence.

Tools are metrics of the judge, measures of images, and a look at them by a language model. The look says what is wrong
with each part of the scope, and where the part is. A second look is told what the first one left open.
"""

import json
import math
from collections.abc import AsyncIterator, Sequence
from functools import partial
from operator import itemgetter

from pydantic import BaseModel, Field

from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore, mean_score, names_kind
from pipeline.assess.images import MAPPINGS, Box, ImageTool, MissingImageToolsError, crop, measure_image
from pipeline.assess.request import AssessRequest, CheckedQuestion
from pipeline.assess.run import AssessPlan, AssessRun, AssessTool, ToolRun
from pipeline.judge.evidence.table import Claim, EvidenceTable, KeyPointCoverage
from pipeline.judge.fusion import Level, level_of
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import MAX_SCORE, Framework, MetricName, MetricResult, MetricStatus
from pipeline.llm.ask import UnusableAnswerError, WrongAnswerError, ask_json, read_json, reply_schema
from pipeline.llm.chat_model import ChatMessage, ChatRequest
from pipeline.llm.conversation import Fence, conversation
from pipeline.llm.errors import RequestRefusedError
from pipeline.prompts.prompts import Prompt
from pipeline.reading.words import fold_case
from pipeline.support.claim_support import ClaimLabel


async def execute(run: AssessRun, plan: AssessPlan) -> AsyncIterator[ToolRun]:
    """Runs what is new in a plan, and yields each tool as it is done. What was found is in `run`."""
    for done in await _judge(run, plan, [tool for tool in _new(run, plan, GLOBAL) if tool.framework]):
        yield done
    for done in await _measure(run, plan, GLOBAL):
        yield done
    await _look(run, plan)
    for part in plan.scope:
        if part in run.boxes:
            for done in await _measure(run, plan, part):
                yield done


def _new(run: AssessRun, plan: AssessPlan, part: str) -> list[AssessTool]:
    """Returns the tools of a plan that have not measured a part yet."""
    return [tool for tool in run.tools if tool.name in plan.tools and (tool.name, part) not in run.runs]


async def _judge(run: AssessRun, plan: AssessPlan, tools: Sequence[AssessTool]) -> list[ToolRun]:
    """Runs the metrics of all frameworks in one judgement: they share its evidence and its questions to a model."""
    frameworks = tuple(framework for framework in Framework if any(tool.framework is framework for tool in tools))
    if not frameworks:
        return []
    if run.judge is None:
        raise ValueError("texts cannot be assessed without a judge")
    request = run.checked.request
    judgement = await run.judge(JudgeRequest(request.source, request.summary, frameworks))
    run.table = run.table or judgement.evidence
    run.judge_usage += judgement.language_model_usage
    run.notes += [note for note in judgement.notes if note not in run.notes]
    asked = {(tool.framework, tool.metric): tool for tool in tools}
    done = []
    for framework in frameworks:
        for result in judgement[framework].metrics:
            if (tool := asked.get((framework, result.name))) is not None:
                run.metrics[tool.name] = result
                done.append(_keep(run, _metric_run(plan, tool, result)))
    return done


def _metric_run(plan: AssessPlan, tool: AssessTool, result: MetricResult) -> ToolRun:
    if result.score is None:
        return ToolRun(plan.iteration, tool.name, error=result.error or "no_score: the metric has none")
    if not result.counts:
        return ToolRun(plan.iteration, tool.name, error="abstained: the opinions disagree")
    score = ToolScore(tool.name, to_five(result.score), GLOBAL, tool.distortion)
    return ToolRun(plan.iteration, tool.name, score, result.score)


async def _measure(run: AssessRun, plan: AssessPlan, part: str) -> list[ToolRun]:
    """Runs the image tools on the first image, or on a part of it; without their extra they fail, each by itself."""
    tools = {tool.image_tool: tool for tool in _new(run, plan, part) if tool.image_tool}
    if not tools:
        return []
    try:
        measured = await run.synthesizer.off_loop(partial(_measured, run, part, tuple(tools)))
    except MissingImageToolsError as error:
        failed = f"missing_image_tools: {error}"
        return [_keep(run, ToolRun(plan.iteration, tool.name, error=failed), part) for tool in tools.values()]
    done = []
    for kind, value in measured.items():
        tool = tools[kind]
        score = ToolScore(tool.name, MAPPINGS[kind](value), part, tool.distortion)
        done.append(_keep(run, ToolRun(plan.iteration, tool.name, score, value), part))
    return done


def _measured(run: AssessRun, part: str, tools: Sequence[ImageTool]) -> dict[ImageTool, float]:
    """Measures; nothing where a part is too small to be measured."""
    image, reference = run.checked.images[0], run.checked.reference
    if (box := run.boxes.get(part)) is None:
        return measure_image(image, reference, tools)
    detail = crop(image, box)
    return {} if detail is None else measure_image(detail, None if reference is None else crop(reference, box), tools)


async def _look(run: AssessRun, plan: AssessPlan) -> None:
    """Asks the language model about parts that it has said nothing of yet, and about those that are in doubt."""
    doubtful = {part for need in plan.needs for part in need.scope}
    parts = tuple(part for part in plan.scope if part in doubtful or part not in run.seen)
    if run.models is None or not run.has_eyes or not parts:
        return
    executor, max_attempts = run.models.executor, run.synthesizer.config.max_attempts
    messages = _look_messages(executor.prompts["look"], run.checked, plan, parts)
    most_tokens = 800
    request = ChatRequest(messages, most_tokens, 0.0, json_schema=reply_schema(_Findings, "findings"), seed=0)
    read = partial(_read_look, scope=parts)
    try:
        (findings, boxes), _ = await ask_json(executor, request, read, max_attempts=max_attempts)
    except UnusableAnswerError as error:
        run.is_blind = isinstance(error.__cause__, RequestRefusedError)
        run.notes.append(f"images were not looked at, {error}")
        return
    run.seen |= findings
    run.boxes = boxes | run.boxes


def _keep(run: AssessRun, done: ToolRun, part: str = GLOBAL) -> ToolRun:
    run.runs[done.tool, part] = done
    return done


class _SeenFinding(BaseModel):
    part: int
    type: str = Field(min_length=1, max_length=100)
    severity: DistortionSeverity
    explanation: str = Field(default="", max_length=500)
    box: tuple[float, ...] | None = None


class _Findings(BaseModel):
    findings: tuple[_SeenFinding, ...] = Field(min_length=1, max_length=40)


def _look_messages(
    prompt: Prompt, asked: CheckedQuestion[AssessRequest], plan: AssessPlan, scope: Sequence[str]
) -> tuple[ChatMessage, ...]:
    """Returns the conversation about some parts. Without distortions in the plan, any are looked for."""
    numbered = [{"part": number, "name": name} for number, name in enumerate(scope, start=1)]
    parts, left_open = json.dumps(numbered, ensure_ascii=False), "\n".join(need.message for need in plan.needs)
    question = asked.request.question
    fence = Fence([question, parts, left_open])
    words = {
        "question": fence.mark(question),
        "parts": fence.mark(parts),
        "distortions": ", ".join(plan.distortions) or "any",
        "again": prompt.fill("again", doubts=fence.mark(left_open)) if plan.needs else "",
    }
    return conversation(prompt, fence, words, images=asked.images)


def _read_look(text: str, scope: Sequence[str]) -> tuple[dict[str, tuple[Finding, ...]], dict[str, Box]]:
    """Returns findings by part, and where those are in the first image that are only a part of it.

    Raises WrongAnswerError: it is no reply, or says nothing of any part.
    """
    findings: dict[str, tuple[Finding, ...]] = {}
    boxes: dict[str, Box] = {}
    for one in read_json(text, _Findings).findings:
        if 1 <= one.part <= len(scope):
            part = scope[one.part - 1]
            found = Finding(one.type.strip(), one.severity, one.explanation.strip())
            findings[part] = (*findings.get(part, ()), found)
            if part != GLOBAL and (box := _read_box(one.box)):
                boxes.setdefault(part, box)
    if not findings:
        raise WrongAnswerError("no finding had a number of the parts")
    return findings, boxes


def _read_box(shares: Sequence[float] | None) -> Box | None:
    """Returns a box inside the image; a wrong one is none, and no reason to refuse what was seen."""
    match shares:
        case (left, top, right, bottom) if 0 <= left < right <= 1 and 0 <= top < bottom <= 1:
            return left, top, right, bottom
    return None


def gather(run: AssessRun, plan: AssessPlan) -> Evidence:
    """Returns findings and scores of the plan's scope, and the caller's own scores.

    A finding of the language model, which looked, stands in place of one that only says what a score says of that
    distortion. Model and score can then contradict each other: that is what replanning is for.
    """
    callers = run.checked.request.tool_scores
    scores = [*callers, *(one.score for one in run.runs.values() if one.score)]
    analysis: dict[str, list[Finding]] = {}
    for part in plan.scope:
        found = [*run.seen.get(part, ()), *_judged(run, plan, part, scores)]
        measured = [one for (scope, _), one in score_findings(scores).items() if scope == part]
        told = [one for one in measured if not any(names_kind(finding.kind, one.kind) for finding in found)]
        analysis[part] = [*found, *told]
    about = tuple(score for score in scores if score.scope in plan.scope or score in callers)
    return Evidence({part: tuple(found) or None for part, found in analysis.items()}, about)


def _judged(run: AssessRun, plan: AssessPlan, part: str, scores: list[ToolScore]) -> list[Finding]:
    """Returns what the metrics say of a part; scores of a part are added to `scores`."""
    if run.table is None:
        return []
    if part != GLOBAL:
        findings, measured = part_findings(part, run.table, is_wide=plan.is_wide)
        scores += measured
        return list(findings)
    by_metric = [
        metric_finding([result for name, result in run.metrics.items() if result.name.value == distortion])
        for distortion in plan.distortions
    ]
    return [finding for finding in by_metric if finding is not None]


_SEVERITIES = {
    Level.EXCELLENT: DistortionSeverity.NONE,
    Level.GOOD: DistortionSeverity.SLIGHT,
    Level.FAIR: DistortionSeverity.MODERATE,
    Level.POOR: DistortionSeverity.SEVERE,
    Level.BAD: DistortionSeverity.SEVERE,
}
_LABELS = {ClaimLabel.SUPPORTED: 5.0, ClaimLabel.PARTIAL: 3.0, ClaimLabel.UNSUPPORTED: 1.0}
_COVERED = {KeyPointCoverage.FULLY: 5.0, KeyPointCoverage.PARTIAL: 3.0, KeyPointCoverage.NOT: 1.0}
_MAX_CHARS = 600
_SHORTEST_WORD = 4  # of a part's name, when it is looked for by single words


def severity_of(score: float) -> DistortionSeverity:
    """Returns how bad something is whose quality has a score in [1, 5]."""
    return _SEVERITIES[level_of(score)]


def to_five(score: float) -> float:
    """Maps [0, 10] to [1, 5], as Ultra does."""
    return 1 + 4 * score / MAX_SCORE


def metric_finding(results: Sequence[MetricResult]) -> Finding | None:
    """Returns what the opinions of one metric say together; None when none of them has a score.

    Those that count decide by their mean. When all abstain, the finding is uncertain.
    """
    scores = [to_five(one.score) for one in results if one.counts and one.score is not None]
    spoken = next((one for one in results if one.counts), None)
    abstained = next((one for one in results if one.status is MetricStatus.ABSTAINED), None)
    told = spoken or abstained
    if told is None:
        return None
    severity = severity_of(math.fsum(scores) / len(scores)) if scores else DistortionSeverity.UNCERTAIN
    return Finding(told.name.value, severity, told.reason[:_MAX_CHARS])  # which quotes its evidence


def part_findings(
    part: str, table: EvidenceTable, *, is_wide: bool
) -> tuple[tuple[Finding, ...], tuple[ToolScore, ...]]:
    """Returns what the claims and key points that mention a part say about it; both empty when none does.

    With `is_wide` one word of its name suffices.
    """
    claims = [claim for claim in table.claims if _mentions(claim.passage.text, part, is_wide=is_wide)]
    told = table.judge_key_points or table.twin_key_points
    points = [point for point in told if _mentions(point.passage.text, part, is_wide=is_wide)]
    told_of = {
        (MetricName.HALLUCINATION, "claim_labels"): [(_LABELS[claim.label], _about_claim(claim)) for claim in claims],
        (MetricName.COVERAGE, "key_point_labels"): [
            (_COVERED[one.coverage], f"{one.coverage.value} told: [source: {one.passage.quote}]"[:_MAX_CHARS])
            for one in points
        ],
    }
    found: list[Finding] = []
    scores: list[ToolScore] = []
    for (metric, tool), rated in told_of.items():
        if rated:
            worst, about = min(rated, key=itemgetter(0))
            found.append(Finding(metric.value, severity_of(worst), about))
            mean = math.fsum(score for score, _ in rated) / len(rated)
            scores.append(ToolScore(tool, mean, part, metric.value))
    return tuple(found), tuple(scores)


def score_findings(scores: Sequence[ToolScore]) -> dict[tuple[str, str], Finding]:
    """Returns for each part and kind of distortion what the scores of tools say about it."""
    return {
        (part, kind): Finding(
            kind or "quality",
            severity_of(mean_score(these)),
            "; ".join(f"{one.tool} scores it {one.score:.2f} of 5" for one in these)[:_MAX_CHARS],
        )
        for (part, kind), these in Evidence({}, tuple(scores)).scores_by_kind().items()
    }


def _mentions(text: str, part: str, *, is_wide: bool) -> bool:
    text, name = fold_case(text), fold_case(part)
    if name in text:
        return True
    return is_wide and any(len(word) >= _SHORTEST_WORD and word in text for word in name.split())


def _about_claim(claim: Claim) -> str:
    support = f" [source: {claim.support.quote}]" if claim.support else ""
    return f"{claim.label.value}: [summary: {claim.passage.quote}]{support}"[:_MAX_CHARS]
