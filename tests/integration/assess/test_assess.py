"""Assess: a real server plans, runs tools, answers, and plans again."""

import asyncio
import json
import math
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from tests.integration.assess.pictures import png
from tests.integration.judge.judge_requests import SOURCE, SUMMARY
from tests.integration.summarize.summaries import QUICK
from tests.integration.support.rich_errors import fields_of
from tests.integration.support.shared_server import shared_server
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN: Any = 9  # proto3 lets unknown numbers through
MAX_IMAGE_BYTES = 10_000
QUESTION = "How good is this summary?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stub(tiny_models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[JudgeServiceStub]:
    """Of a server without a language model, which takes small images only."""
    limits = {"images": {"max_bytes": MAX_IMAGE_BYTES}}
    directory = tmp_path_factory.mktemp("summaries")
    async with (
        shared_server(tiny_models, directory, synthesis={"limits": limits}) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        yield JudgeServiceStub(channel)


@dataclass
class Scripted:
    """A server and its language model."""

    stub: JudgeServiceStub
    endpoint: ScriptedEndpoint


Serve = Callable[[Script], AbstractAsyncContextManager[Scripted]]


@pytest.fixture
def serve(tiny_models: Path, tmp_path: Path) -> Serve:
    """Gives what makes a server whose language model follows a script."""

    @asynccontextmanager
    async def served(script: Script) -> AsyncIterator[Scripted]:
        async with ScriptedEndpoint(script) as endpoint:
            llm = {"base_url": endpoint.base_url, "model": "scripted", **QUICK}
            async with (
                shared_server(tiny_models, tmp_path, llm=llm) as app,
                grpc.aio.insecure_channel(app.address) as channel,
            ):
                yield Scripted(JudgeServiceStub(channel), endpoint)

    return served


def assess(**fields: Any) -> pb.AssessRequest:  # noqa: ANN401
    plain: dict[str, Any] = {"question": QUESTION, "source": SOURCE, "summary": SUMMARY}
    return pb.AssessRequest(**{**plain, **fields})


def of_image(**fields: Any) -> pb.AssessRequest:  # noqa: ANN401
    plain: dict[str, Any] = {"question": "How good is this image?", "images": [png()]}
    return pb.AssessRequest(**{**plain, **fields})


async def events_of(stub: JudgeServiceStub, request: pb.AssessRequest) -> list[pb.AssessResponse]:
    return [event async for event in stub.Assess(request)]


def kinds(events: list[pb.AssessResponse]) -> list[str]:
    """Names of the events in the order of arrival, runs of tools as one."""
    names = [str(event.WhichOneof("event")) for event in events]
    return [name for place, name in enumerate(names) if name != "tool" or names[place - 1] != "tool"]


async def test_a_summary_is_planned_judged_and_answered(stub: JudgeServiceStub) -> None:
    events = await events_of(stub, assess())
    outcome = events[-1].assessment
    assert kinds(events) == [*["plan", "tool", "evidence", "synthesis"] * (outcome.iteration_count + 1), "assessment"]
    plan = events[0].plan
    assert (plan.iteration, plan.mode, plan.scope.name) == (0, pb.SYNTHESIS_MODE_SCORING, "Global")
    ran = [event.tool for event in events if event.HasField("tool")]
    assert [one.tool for one in ran if one.iteration == 0] == list(plan.tools)
    assert all(0 <= one.raw <= 10 and 1 <= one.score.score <= 5 for one in ran if one.HasField("score"))
    assert all(one.HasField("score") != bool(one.error) for one in ran)
    assert outcome.synthesis.final_answer in "ABCDE"
    assert outcome.synthesis.quality_reasoning
    assert outcome.synthesis == [event.synthesis.synthesis for event in events if event.HasField("synthesis")][-1]
    assert len(outcome.replan_history) == outcome.iteration_count


async def test_a_question_about_facts_is_put_to_the_tools_for_facts(stub: JudgeServiceStub) -> None:
    events = await events_of(stub, assess(question="Is every statement supported?"))
    assert list(events[0].plan.distortions) == ["hallucination"]
    assert events[0].plan.mode == pb.SYNTHESIS_MODE_EXPLANATION


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
async def test_a_part_that_nothing_mentions_is_planned_for_again_up_to_the_limit(
    stub: JudgeServiceStub, limit: int
) -> None:
    scope = pb.QualityScope(objects=pb.ScopeObjects(names=["zebra crossing"]))
    request = assess(scope=scope, options=pb.SynthesisOptions(max_replan_iterations=limit))
    events = await events_of(stub, request)
    plans = [event.plan for event in events if event.HasField("plan")]
    answers = [event.synthesis for event in events if event.HasField("synthesis")]
    outcome = events[-1].assessment
    assert min(limit, 1) <= outcome.iteration_count <= limit
    assert outcome.iteration_count == len(outcome.replan_history) == len(plans) - 1
    assert [plan.iteration for plan in plans] == [answer.iteration for answer in answers] == list(range(len(plans)))
    assert all(answer.begins_again for answer in answers[:-1])
    assert outcome.synthesis.need_replan
    assert any("zebra crossing" in need.scope for need in outcome.synthesis.replan_needs)
    assert (answers[-1].begins_again, len(outcome.notes) > 0) in [(False, False), (True, True)]


async def test_an_image_is_measured(stub: JudgeServiceStub) -> None:
    events = await events_of(stub, of_image())
    tools = {event.tool.tool: event.tool for event in events if event.HasField("tool")}
    assert {"blur", "noise", "blockiness"} <= set(tools)
    assert not {"ssim", "psnr"} & set(tools)
    assert events[-1].assessment.synthesis.final_answer in "ABCDE"


async def test_with_a_reference_images_are_compared(stub: JudgeServiceStub) -> None:
    events = await events_of(stub, of_image(reference=png()))
    tools = {event.tool.tool: event.tool for event in events if event.HasField("tool")}
    assert tools["ssim"].raw == pytest.approx(1)
    assert tools["psnr"].score.score == pytest.approx(5, abs=0.1)
    darker = await events_of(stub, of_image(reference=png(shade=250)))
    worse = {event.tool.tool: event.tool for event in darker if event.HasField("tool")}
    assert worse["psnr"].score.score < tools["psnr"].score.score


async def test_scores_of_the_callers_own_tools_suffice(stub: JudgeServiceStub) -> None:
    scores = [pb.QualityToolScore(tool="a", score=2.6), pb.QualityToolScore(tool="b", score=2.8)]
    events = await events_of(stub, pb.AssessRequest(question="How good is it?", tool_scores=scores))
    synthesis = events[-1].assessment.synthesis
    assert synthesis.level == fusion_pb2.QUALITY_LEVEL_FAIR
    assert synthesis.fusion.tool_mean == pytest.approx(2.7)


async def test_the_same_question_has_the_same_answer(stub: JudgeServiceStub) -> None:
    runs = await asyncio.gather(*(events_of(stub, assess()) for _ in range(5)))
    for events in runs:
        events[-1].assessment.ClearField("elapsed")
    assert all(events == runs[0] for events in runs)


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (assess(question=""), "question"),
        (assess(source=""), "source"),
        (assess(summary=" "), "summary"),
        (pb.AssessRequest(question=QUESTION), "images"),
        (assess(mode=UNKNOWN), "mode"),
        (assess(scope=pb.QualityScope(name="everything")), "scope"),
        (assess(scope=pb.QualityScope(objects=pb.ScopeObjects())), "scope"),
        (assess(options=pb.SynthesisOptions(max_replan_iterations=6)), "options.max_replan_iterations"),
        (assess(options=pb.SynthesisOptions(max_replan_iterations=-1)), "options.max_replan_iterations"),
        (assess(options=pb.SynthesisOptions(eta=math.nan)), "options.eta"),
        (assess(tool_scores=[pb.QualityToolScore(tool="a", score=6)]), "tool_scores[0].score"),
        (assess(tool_scores=[pb.QualityToolScore(tool="a", score=math.inf)]), "tool_scores[0].score"),
        (assess(source="w1 " * 1_000_000), "source"),
        (of_image(images=[b"not an image"]), "images[0]"),
        (of_image(images=[png()[:-9]]), "images[0]"),
        (of_image(images=[b"\0" * (MAX_IMAGE_BYTES + 1)]), "images[0]"),
        (of_image(images=[png(5_000, 5_000)]), "images[0]"),
        (of_image(reference=png(65, 64)), "reference"),
        (of_image(reference=b"\x89PNG"), "reference"),
        (assess(reference=png()), "reference"),
        (assess(priority=UNKNOWN), "priority"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_wrong_field_is_named(stub: JudgeServiceStub, request_: pb.AssessRequest, field: str) -> None:
    with pytest.raises(AioRpcError) as caught:
        await events_of(stub, request_)
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == [field]
    assert "expected" in str(caught.value.details())
    assert len(str(caught.value.details())) < 500  # no user text comes back


async def test_an_image_that_is_whole_and_cannot_be_decoded_is_the_callers_error(stub: JudgeServiceStub) -> None:
    good = zlib.compress((b"\0" + b"\x80" * 64) * 64)
    bad = png().replace(good, bytes(len(good)))
    start = bad.index(b"IDAT")
    checksum = zlib.crc32(bad[start : start + 4 + len(good)])
    broken = bad[: start + 4 + len(good)] + checksum.to_bytes(4, "big") + bad[start + 8 + len(good) :]
    with pytest.raises(AioRpcError) as caught:
        await events_of(stub, of_image(images=[broken]))
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == ["images[0]"]


async def test_a_model_plans_looks_and_answers(serve: Serve) -> None:
    async with serve(Script(keep_bodies=True)) as served:
        events = await events_of(served.stub, of_image())
        bodies = json.dumps(served.endpoint.log.bodies)
    outcome = events[-1].assessment
    assert "data:image/png;base64," in bodies
    assert outcome.language_model.calls > 0
    assert "scripted" in outcome.language_model.identity


@pytest.mark.parametrize("request_", [assess(), of_image()], ids=["text", "image"])
async def test_an_assessment_tells_all_that_the_model_cost_it(serve: Serve, request_: pb.AssessRequest) -> None:
    async with serve(Script()) as served:
        outcome = (await events_of(served.stub, request_))[-1].assessment
        requests = served.endpoint.log.requests.total()
    assert outcome.language_model.calls == requests  # those of the judge's own questions too
    assert outcome.language_model.calls > outcome.synthesis.language_model.calls > 0


@pytest.mark.parametrize("request_", [assess(), of_image()], ids=["text", "image"])
async def test_a_model_that_refuses_leaves_a_degraded_answer(serve: Serve, request_: pb.AssessRequest) -> None:
    async with serve(Script(replies=(Reply("", "I cannot help with that."),))) as served:
        events = await events_of(served.stub, request_)
    outcome = events[-1].assessment
    assert kinds(events)[:4] == ["plan", "tool", "evidence", "synthesis"]
    assert (outcome.synthesis.degraded, outcome.synthesis.need_replan) == (True, False)
    assert outcome.iteration_count == 0
    assert outcome.synthesis.final_answer in "ABCDE"


async def test_without_leave_the_model_is_not_asked(serve: Serve) -> None:
    async with serve(Script()) as served:
        await events_of(served.stub, assess(options=pb.SynthesisOptions(use_language_model=False)))
        assert served.endpoint.log.requests.total() == 0


async def test_a_client_that_leaves_stops_the_loop(serve: Serve) -> None:
    async with serve(Script()) as served:
        log = served.endpoint.log
        served.endpoint.gate.clear()
        call = served.stub.Assess(of_image())
        asked = asyncio.ensure_future(call.code())
        await log.until(lambda log: log.in_flight > 0)
        call.cancel()
        assert await asked is StatusCode.CANCELLED
        await log.until(lambda log: log.in_flight == 0)
        assert (log.left, log.requests.total()) == (1, 1)
        served.endpoint.gate.set()
