"""Assess and Synthesize: what golden requests do not ask: limits, costs, and callers that leave."""

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


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (assess(source="w1 " * 1_000_000), "source"),
        (of_image(images=[b"\0" * (MAX_IMAGE_BYTES + 1)]), "images[0]"),
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


async def test_without_leave_the_model_is_not_asked(serve: Serve) -> None:
    async with serve(Script()) as served:
        await events_of(served.stub, assess(options=pb.SynthesisOptions(use_language_model=False)))
        assert served.endpoint.log.requests.total() == 0


@pytest.mark.parametrize("is_late", [False, True], ids=["client leaves", "deadline"])
async def test_who_waits_no_more_ends_the_call_of_the_model(serve: Serve, *, is_late: bool) -> None:
    evidence = pb.QualityEvidence(tool_scores=[pb.QualityToolScore(tool="iqa", score=2.6)])
    request = pb.SynthesizeRequest(question=QUESTION, mode=pb.SYNTHESIS_MODE_SCORING, evidence=evidence)
    async with serve(Script()) as served:
        log = served.endpoint.log
        served.endpoint.gate.clear()
        if is_late:
            timeout_s = 0.1
            while log.requests.total() == 0:  # a slow machine needs a later deadline to reach the model
                timeout_s *= 2
                call = served.stub.Synthesize(request, timeout=timeout_s)
                code = await call.code()
                assert code is StatusCode.DEADLINE_EXCEEDED or (await call).synthesis.degraded  # time was left for that
        else:
            call = served.stub.Synthesize(request)
            asked = asyncio.ensure_future(call.code())
            await log.until(lambda log: log.in_flight > 0)
            call.cancel()
            assert await asked is StatusCode.CANCELLED
        await log.until(lambda log: log.left == log.requests.total() and log.in_flight == 0)
        served.endpoint.gate.set()
