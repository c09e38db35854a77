"""Synthesize: what golden requests do not ask: limits, a model that fails, and callers that leave."""

import asyncio
from typing import Any

import pytest
from grpc import StatusCode
from precis.v1 import synthesis_pb2 as pb

from tests.integration.conftest import Serve
from tests.scripted_endpoint.script import Script

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCORING, EXPLANATION = pb.SYNTHESIS_MODE_SCORING, pb.SYNTHESIS_MODE_EXPLANATION
MODERATE, SEVERE = pb.DISTORTION_SEVERITY_MODERATE, pb.DISTORTION_SEVERITY_SEVERE
QUESTION = "How good is this image?"


def score(value: float, tool: str = "iqa", **fields: Any) -> pb.QualityToolScore:  # noqa: ANN401
    return pb.QualityToolScore(tool=tool, score=value, **fields)


def evidence(*scores: pb.QualityToolScore, severity: Any = MODERATE, scope: str = "Global") -> pb.QualityEvidence:  # noqa: ANN401
    finding = pb.DistortionFinding(kind="Blurs", severity=severity, explanation="Edges appear soft.")
    return pb.QualityEvidence(
        distortion_analysis=[pb.ScopeAnalysis(scope=scope, findings=[finding])], tool_scores=scores
    )


def ask(**fields: Any) -> pb.SynthesizeRequest:  # noqa: ANN401
    plain: dict[str, Any] = {"question": QUESTION, "mode": SCORING, "evidence": evidence(score(2.6), score(2.8, "b"))}
    return pb.SynthesizeRequest(**{**plain, **fields})


@pytest.mark.parametrize("is_late", [False, True], ids=["client leaves", "deadline"])
async def test_who_waits_no_more_ends_the_call_of_the_model(serve: Serve, *, is_late: bool) -> None:
    async with serve(Script()) as served:
        log = served.endpoint.log
        served.endpoint.gate.clear()
        call = served.stub.Synthesize(ask(), timeout=0.2 if is_late else None)
        asked = asyncio.ensure_future(call.code())
        if not is_late:
            await log.until(lambda log: log.in_flight > 0)
            call.cancel()
        assert await asked is (StatusCode.DEADLINE_EXCEEDED if is_late else StatusCode.CANCELLED)
        await log.until(lambda log: log.left == 1 and log.in_flight == 0)
        served.endpoint.gate.set()
