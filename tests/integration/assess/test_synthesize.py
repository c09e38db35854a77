"""Synthesize: what golden requests do not ask: limits, a model that fails, and callers that leave."""

import asyncio
import json
from typing import Any

import pytest
from grpc import StatusCode
from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from tests.integration.assess.pictures import png
from tests.integration.conftest import Serve
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
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


def reply(letter: str = "C", **fields: object) -> str:
    answer = {
        "final_answer": letter,
        "quality_reasoning": "The edges are soft.",
        "used_evidence": ["D1", "T1"],
        "need_replan": False,
        "replan_reason": None,
    }
    return json.dumps({**answer, **fields})


async def test_the_model_gives_the_words_and_the_tools_share_the_score(serve: Serve) -> None:
    script = Script(replies=(Reply("How good", reply("D")),), supports_logprobs=False, keep_bodies=True)
    async with serve(script) as served:
        synthesis = (await served.stub.Synthesize(ask(images=[png()]))).synthesis
    assert "scripted" in synthesis.author
    assert synthesis.quality_reasoning == "The edges are soft."
    assert synthesis.fusion.probability_source == fusion_pb2.PROBABILITY_SOURCE_CLASSIFICATION
    assert 2 < synthesis.fusion.score < 2.7
    assert (synthesis.attempt_count, synthesis.language_model.calls) == (1, 1)
    assert synthesis.language_model.prompt_tokens > 0
    [body] = served.endpoint.log.bodies[-1:]
    assert "data:image/png;base64," in json.dumps(body)
    assert "Edges appear soft." in json.dumps(body)


@pytest.mark.parametrize(
    "script",
    [
        Script(replies=(Reply("How good", "I cannot help with that."),)),
        Script(replies=(Reply("How good", reply(used_evidence=["D9", "X"])),)),
        Script(faults=FaultPlan({Fault.RESET: 1.0})),
    ],
    ids=["refusal", "invented ids", "reset"],
)
async def test_a_model_that_fails_leaves_a_degraded_answer(serve: Serve, script: Script) -> None:
    async with serve(script) as served:
        synthesis = (await served.stub.Synthesize(ask(evidence=evidence(score(2.6), scope="car")))).synthesis
    assert (synthesis.degraded, synthesis.need_replan) == (True, False)
    assert synthesis.error
    assert synthesis.author == "deterministic"
    assert (synthesis.final_answer, synthesis.quality_reasoning != "") == ("C", True)
    assert [need.reason for need in synthesis.replan_needs] == [pb.REPLAN_REASON_SCOPE_NOT_COVERED]


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
