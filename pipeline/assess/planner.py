"""Plans what to look for: by rules, and by a language model within what they leave open.

The first plan goes by the words of the question, a later one by what was missing.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pipeline.assess.evidence import GLOBAL, words_of
from pipeline.assess.images import ImageTool
from pipeline.assess.request import AssessRequest, Mode
from pipeline.assess.result import DETERMINISTIC, ReplanNeed, ReplanReason
from pipeline.assess.run import OVERALL, AssessPlan, AssessRun, AssessTool
from pipeline.judge.result import MetricName
from pipeline.llm.ask import UnusableAnswerError, ask_json, read_json, reply_schema
from pipeline.llm.chat_model import ChatMessage, ChatRequest
from pipeline.llm.config import LlmRole
from pipeline.llm.conversation import Fence, author_of, conversation
from pipeline.prompts.prompts import Prompt
from pipeline.reading.framing import quotations
from pipeline.reading.words import fold_case

_SCORING = ("how good", "how well", "rate", "rating", "score", "grade", "level", "quality of")
_BEGINNINGS: dict[str, tuple[str, ...]] = {
    MetricName.COVERAGE: ("cover", "complete", "missing", "leave out", "leaves out", "omit", "key point"),
    MetricName.ALIGNMENT: ("align", "stance", "tone", "intent", "meaning", "distort", "emphasis"),
    MetricName.HALLUCINATION: (
        *("hallucinat", "fabricat", "invent", "support", "faithful"),
        *("accura", "fact", "true", "wrong", "correct"),
    ),
    MetricName.RELEVANCE: ("relevan", "off topic", "on topic", "beside the point", "focus"),
    MetricName.BIAS_TOXICITY: (
        *("bias", "toxic", "offend", "offensive", "neutral", "fair"),
        *("hate", "slur", "insult", "civil"),
    ),
    ImageTool.BLUR: ("blur", "sharp", "soft", "focus"),
    ImageTool.NOISE: ("nois", "grain"),
    ImageTool.BLOCKINESS: ("block", "compress", "jpeg", "artifact"),
}
"""How the words begin by which a question names a distortion."""


def first_plan(request: AssessRequest, tools: Sequence[AssessTool]) -> AssessPlan:
    """Returns a plan that runs the first opinions on what the question names, or on everything."""
    asked = _spaced(" ".join((request.question, *request.choices)))
    first = [tool for tool in tools if not tool.is_second_opinion]
    distortions = tuple(dict.fromkeys(tool.distortion for tool in first if tool.distortion != OVERALL))
    named = tuple(one for one in distortions if any(f" {start}" in asked for start in _BEGINNINGS[one]))
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
    is_in_doubt, is_missing = bool(reasons & _IN_DOUBT), bool(reasons - _IN_DOUBT)
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
        needs=tuple(needs),
    )


_IN_DOUBT = {ReplanReason.CONTRADICTION, ReplanReason.UNCERTAIN, ReplanReason.DISAGREEMENT}


def mode_of(request: AssessRequest) -> Mode:
    """Returns the kind of answer that a question asks for."""
    asked = _spaced(request.question)
    is_rated = any(f" {phrase} " in asked for phrase in _SCORING)
    return Mode.SCORING if is_rated and not request.choices else Mode.EXPLANATION


def _spaced(text: str) -> str:
    return f" {' '.join(words_of(text))} "


def scope_of(request: AssessRequest) -> tuple[str, ...]:
    """Returns what a question puts in quotation marks and the summary has, or what scores alone are about."""
    if not request.summary and not request.images:
        return tuple(dict.fromkeys(score.scope for score in request.tool_scores)) or (GLOBAL,)
    summary = fold_case(request.summary)
    quoted = dict.fromkeys(request.question[start + 1 : end - 1].strip() for start, end in quotations(request.question))
    return tuple(name for name in quoted if name and fold_case(name) in summary) or (GLOBAL,)


_REMEDIES = {
    ReplanReason.SCOPE_NOT_COVERED: "look for the missing parts by single words and with every tool",
    ReplanReason.NO_TOOL_SCORES: "run every tool",
    ReplanReason.CONTRADICTION: "ask for second opinions where findings and scores contradict each other",
    ReplanReason.UNCERTAIN: "ask for second opinions where a finding or the answer is uncertain",
    ReplanReason.KEY_DISTORTION_NOT_SCORED: "run every tool, for one that scores the distortion",
    ReplanReason.DISAGREEMENT: "ask for second opinions, for tools and model hardly agree",
}


class _Choice(BaseModel):
    mode: Mode
    scope: tuple[Annotated[str, Field(max_length=100)], ...] = Field(min_length=1, max_length=5)
    tools: tuple[str, ...]
    reason: str = Field(max_length=400)


async def choose_plan(run: AssessRun, rules: AssessPlan) -> AssessPlan:
    """Returns the model's plan within what the request leaves open; the plan of the rules if there is none.

    After an answer, `rules.needs` tells the model what was missing, and it may add to what the rules run.
    """
    if run.models is None:
        return rules
    config, chat = run.synthesizer.config, run.models.planner
    names = [tool.name for tool in run.tools if rules.needs or not tool.is_second_opinion]
    messages = _messages(chat.prompts["plan"], run.checked.request.question, names, rules)
    request = ChatRequest(messages, config.answer_tokens, 0.0, json_schema=_schema(names), seed=0)
    try:
        choice, _ = await ask_json(chat, request, partial(read_json, kind=_Choice), max_attempts=config.max_attempts)
    except UnusableAnswerError as error:
        plan = replace(rules, notes=(f"planned by rules, {error}",))
        run.notes += plan.notes
        return plan
    return _merged(run, rules, choice, author=author_of(chat, LlmRole.PLANNER))


def _merged(run: AssessRun, rules: AssessPlan, choice: _Choice, *, author: str) -> AssessPlan:
    """Keeps what the request says; a part that the texts do not name is no part of the scope."""
    request, is_first = run.checked.request, not rules.needs
    kept = set() if is_first and choice.tools else set(rules.tools)
    chosen = [tool for tool in run.tools if tool.name in kept.union(choice.tools)]
    return replace(
        rules,
        mode=choice.mode if is_first and request.mode is None and not request.choices else rules.mode,
        scope=(request.scope or _known(run, choice.scope)) if is_first else rules.scope,
        distortions=tuple(dict.fromkeys(tool.distortion for tool in chosen if tool.distortion != OVERALL)),
        tools=tuple(tool.name for tool in chosen),
        reason=" ".join(choice.reason.split()) or rules.reason,
        author=author,
    )


def _known(run: AssessRun, scope: Sequence[str]) -> tuple[str, ...]:
    """Returns the parts that the question or the summary names; objects of an image are taken from the question."""
    texts = fold_case(f"{run.checked.request.question}\n{run.checked.request.summary}")
    names = dict.fromkeys(name.strip() for name in scope)
    known = tuple(name for name in names if name and name != GLOBAL and fold_case(name) in texts)
    return known or (GLOBAL,)


def _messages(prompt: Prompt, question: str, names: Sequence[str], rules: AssessPlan) -> tuple[ChatMessage, ...]:
    missing = "\n".join(need.message for need in rules.needs)
    fence = Fence([question, missing])
    again = prompt.fill("again", missing=fence.mark(missing), tools=", ".join(rules.tools)) if missing else ""
    return conversation(prompt, fence, {"question": fence.mark(question), "tools": ", ".join(names), "again": again})


def _schema(names: Sequence[str]) -> dict[str, Any]:
    schema = reply_schema(_Choice, "plan")
    schema["properties"]["tools"]["items"]["enum"] = list(names)
    return schema
