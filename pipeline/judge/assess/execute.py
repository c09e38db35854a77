"""The executor: runs the tools of a plan that have not run yet, and has the model look at images."""

from collections.abc import AsyncIterator, Sequence
from functools import partial

from pipeline.judge.assess.events import ToolRun
from pipeline.judge.assess.look import look_messages, look_schema, read_look
from pipeline.judge.assess.plan import AssessPlan
from pipeline.judge.assess.run import AssessRun
from pipeline.judge.assess.text_findings import to_five
from pipeline.judge.assess.tools import AssessTool
from pipeline.judge.framework import Framework
from pipeline.judge.images.pixels import MissingImageToolsError
from pipeline.judge.images.tools import measure_image
from pipeline.judge.metric import MetricResult
from pipeline.judge.request import JudgeRequest
from pipeline.judge.synthesis.evidence import GLOBAL, ToolScore
from pipeline.llm.ask import UnusableAnswerError, ask_json
from pipeline.llm.chat_model import ChatRequest


async def execute(run: AssessRun, plan: AssessPlan) -> AsyncIterator[ToolRun]:
    """Runs what is new in a plan, and yields each tool as it is done. What was found is in `run.found`."""
    new = [tool for tool in run.tools if tool.name in plan.tools and tool.name not in run.found.runs]
    for done in await _judge(run, plan, [tool for tool in new if tool.framework]):
        yield done
    for done in await _measure(run, plan, [tool for tool in new if tool.image_tool]):
        yield done
    await _look(run, plan)


async def _judge(run: AssessRun, plan: AssessPlan, tools: Sequence[AssessTool]) -> list[ToolRun]:
    """Runs the metrics of all frameworks in one judgement: they share its evidence and its questions to a model."""
    frameworks = tuple(framework for framework in Framework if any(tool.framework is framework for tool in tools))
    if not frameworks:
        return []
    if run.judge is None:
        raise ValueError("texts cannot be assessed without a judge")
    request = run.checked.request
    judgement = await run.judge(JudgeRequest(request.source, request.summary, frameworks))
    run.found.table = run.found.table or judgement.table
    run.found.judge_usage += judgement.usage
    run.found.notes += [note for note in judgement.notes if note not in run.found.notes]
    results = {(framework, one.name): one for framework in frameworks for one in judgement[framework].metrics}
    asked = {(tool.framework, tool.metric): tool for tool in tools}
    done = []
    for key, result in results.items():
        if (tool := asked.get(key)) is not None:
            run.found.metrics[tool.name] = result
            done.append(_keep(run, _metric_run(plan, tool, result)))
    return done


def _metric_run(plan: AssessPlan, tool: AssessTool, result: MetricResult) -> ToolRun:
    if result.score is None:
        return ToolRun(plan.iteration, tool.name, None, None, result.error or "no_score: the metric has none")
    if not result.counts:
        return ToolRun(plan.iteration, tool.name, None, None, "abstained: the opinions disagree")
    score = ToolScore(tool.name, to_five(result.score), GLOBAL, tool.distortion)
    return ToolRun(plan.iteration, tool.name, score, result.score)


async def _measure(run: AssessRun, plan: AssessPlan, tools: Sequence[AssessTool]) -> list[ToolRun]:
    """Runs the image tools on the first image; without their extra they fail, each by itself."""
    by_image_tool = {tool.image_tool: tool for tool in tools if tool.image_tool}
    if not by_image_tool:
        return []
    first, reference = run.checked.images[0], run.checked.reference
    try:
        measured = await run.off_loop(partial(measure_image, first, reference, tuple(by_image_tool)))
    except MissingImageToolsError as error:
        reason = f"missing_image_tools: {error}"
        return [_keep(run, ToolRun(plan.iteration, tool.name, None, None, reason)) for tool in tools]
    runs = []
    for one in measured:
        tool = by_image_tool[one.tool]
        score = ToolScore(tool.name, one.score, GLOBAL, tool.distortion)
        runs.append(_keep(run, ToolRun(plan.iteration, tool.name, score, one.value)))
    return runs


async def _look(run: AssessRun, plan: AssessPlan) -> None:
    """Asks the language model about those parts of the scope that it has said nothing of yet."""
    parts = [part for part in plan.scope if not run.found.seen.get(part)]
    images, chat = run.checked.images, run.chat
    if chat is None or not images or not parts:
        return
    request = ChatRequest(
        look_messages(images, run.checked.request.question, parts, plan.distortions),
        run.config.look_tokens,
        temperature=0.0,
        json_schema=look_schema(),
        seed=run.config.seed,
    )
    try:
        answer = await ask_json(chat, request, partial(read_look, scope=parts), max_attempts=run.config.max_attempts)
    except UnusableAnswerError as error:
        run.found.notes.append(f"images were not looked at, {error.reason}")
        return
    run.found.seen |= answer.value


def _keep(run: AssessRun, done: ToolRun) -> ToolRun:
    run.found.runs[done.tool] = done
    return done
