"""Plans without a language model: by the words of the question, and after a failure by what was missing."""

import re
from collections.abc import Sequence

from pipeline.judge.assess.plan import AssessPlan
from pipeline.judge.assess.request import AssessRequest
from pipeline.judge.assess.tools import OVERALL, AssessTool
from pipeline.judge.images.mappings import ImageTool
from pipeline.judge.metric import MetricName
from pipeline.judge.synthesis.evidence import GLOBAL
from pipeline.judge.synthesis.replan import ReplanNeed, ReplanReason
from pipeline.judge.synthesis.request import Mode
from pipeline.judge.synthesis.result import DETERMINISTIC

_SCORING = re.compile(r"\b(how good|how well|rate|rating|score|grade|level|quality of)\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“«](.{1,100}?)[\"”»]")
_WORDS = {
    MetricName.COVERAGE: r"cover|complete|missing|leaves? out|omit|key point",
    MetricName.ALIGNMENT: r"align|stance|tone|intent|meaning|distort|emphasis",
    MetricName.HALLUCINATION: r"hallucinat|fabricat|invent|support|faithful|accura|factual|fact|true|wrong|correct",
    MetricName.RELEVANCE: r"relevan|off.topic|on.topic|beside the point|focus",
    MetricName.BIAS_TOXICITY: r"bias|toxic|offend|offensive|neutral|fair|hate|slur|insult|civil",
    ImageTool.BLUR: r"blur|sharp|soft|focus",
    ImageTool.NOISE: r"nois|grain",
    ImageTool.BLOCKINESS: r"block|compress|jpeg|artifact",
}
_PATTERNS = {name.value: re.compile(rf"\b({words})", re.IGNORECASE) for name, words in _WORDS.items()}


def first_plan(request: AssessRequest, tools: Sequence[AssessTool]) -> AssessPlan:
    """Returns a plan that runs the first opinions on what the question names, or on everything."""
    asked = " ".join((request.question, *request.choices))
    first = [tool for tool in tools if not tool.is_second_opinion]
    distortions = tuple(dict.fromkeys(tool.distortion for tool in first if tool.distortion != OVERALL))
    named = tuple(one for one in distortions if _PATTERNS[one].search(asked))
    chosen = named or distortions
    return AssessPlan(
        iteration=0,
        mode=request.mode or mode_of(request),
        scope=request.scope or scope_of(request),
        distortions=chosen,
        tools=tuple(tool.name for tool in first if tool.distortion in (*chosen, OVERALL)),
        is_wide=False,
        reason="the question names what to look for" if named else "the question is about quality as a whole",
        author=DETERMINISTIC,
    )


def next_plan(last: AssessPlan, needs: Sequence[ReplanNeed], tools: Sequence[AssessTool]) -> AssessPlan:
    """Returns a plan that closes the gaps as far as it can; it may do the same as the last one."""
    reasons = {need.reason for need in needs}
    is_in_doubt = bool(reasons & {ReplanReason.CONTRADICTION, ReplanReason.UNCERTAIN})
    is_missing = bool(reasons & {ReplanReason.SCOPE_NOT_COVERED, ReplanReason.NO_TOOL_SCORES})
    chosen = tuple(
        tool.name
        for tool in tools
        if tool.name in last.tools
        or (is_missing and not tool.is_second_opinion)
        or (is_in_doubt and tool.distortion in last.distortions)
    )
    measured = [tool.distortion for tool in tools if tool.name in chosen and tool.distortion != OVERALL]
    return AssessPlan(
        iteration=last.iteration + 1,
        mode=last.mode,
        scope=last.scope,
        distortions=tuple(dict.fromkeys((*last.distortions, *measured))),
        tools=chosen,
        is_wide=last.is_wide or ReplanReason.SCOPE_NOT_COVERED in reasons,
        reason="; ".join(_REMEDIES[need.reason] for need in needs),
        author=DETERMINISTIC,
    )


def mode_of(request: AssessRequest) -> Mode:
    """Returns the kind of answer that a question asks for."""
    return Mode.SCORING if not request.choices and _SCORING.search(request.question) else Mode.EXPLANATION


def scope_of(request: AssessRequest) -> tuple[str, ...]:
    """Returns what a question puts in quotation marks and the summary has, or what scores alone are about."""
    if not request.summary and not request.images:
        return tuple(dict.fromkeys(score.scope for score in request.tool_scores)) or (GLOBAL,)
    summary = request.summary.casefold()
    quoted = dict.fromkeys(match.group(1).strip() for match in _QUOTED.finditer(request.question))
    return tuple(name for name in quoted if name and name.casefold() in summary) or (GLOBAL,)


_REMEDIES = {
    ReplanReason.SCOPE_NOT_COVERED: "look for the missing parts by single words and with every tool",
    ReplanReason.NO_TOOL_SCORES: "run every tool",
    ReplanReason.CONTRADICTION: "ask for second opinions where findings and scores contradict each other",
    ReplanReason.UNCERTAIN: "ask for second opinions where a finding is uncertain",
}
