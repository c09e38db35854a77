"""Assess: a real server plans, runs tools, answers, and plans again."""

import asyncio
import json
from typing import Any

import pytest
from grpc import StatusCode
from precis.v1 import synthesis_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from tests.integration.assess.pictures import MAX_IMAGE_BYTES, png
from tests.integration.conftest import Serve
from tests.integration.judge.judge_requests import SOURCE, SUMMARY
from tests.integration.support.rich_errors import assert_refused
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "How good is this summary?"


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


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (assess(scope=pb.QualityScope(objects=pb.ScopeObjects())), "scope"),
        (assess(source="w1 " * 1_000_000), "source"),
        (of_image(images=[b"\0" * (MAX_IMAGE_BYTES + 1)]), "images[0]"),
        (of_image(images=[png(5_000, 5_000)]), "images[0]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_wrong_field_is_named(stub: JudgeServiceStub, request_: pb.AssessRequest, field: str) -> None:
    await assert_refused(stub.Assess(request_), field)


@pytest.mark.parametrize("request_", [assess(), of_image()], ids=["text", "image"])
async def test_a_model_plans_looks_and_answers_and_all_that_it_cost_is_told(
    serve: Serve, request_: pb.AssessRequest
) -> None:
    async with serve(Script(keep_bodies=True)) as served:
        outcome = (await events_of(served.stub, request_))[-1].assessment
        log = served.endpoint.log
    assert ("data:image/png;base64," in json.dumps(log.bodies)) == bool(request_.images)
    assert "scripted" in outcome.language_model.identity
    assert outcome.language_model.calls == log.requests.total()  # those of the judge's own questions too
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
