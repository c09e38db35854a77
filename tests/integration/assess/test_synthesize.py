"""Synthesize: a real server, with and without a scripted language model."""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
from tests.integration.summarize.summaries import QUICK
from tests.integration.support.rich_errors import fields_of
from tests.integration.support.shared_server import shared_server
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCORING, EXPLANATION = pb.SYNTHESIS_MODE_SCORING, pb.SYNTHESIS_MODE_EXPLANATION
UNKNOWN: Any = 9  # proto3 lets unknown numbers through
MODERATE, SEVERE = pb.DISTORTION_SEVERITY_MODERATE, pb.DISTORTION_SEVERITY_SEVERE
MAX_IMAGE_BYTES = 10_000
QUESTION = "How good is this image?"
SURELY_BAD = pb.LevelAnswer(logits=pb.LevelLogits(bad=0.0))


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


@pytest.fixture
def scripted(tiny_models: Path, tmp_path: Path) -> Any:  # noqa: ANN401 - what makes servers
    """Gives what makes a server whose language model follows a script."""

    @asynccontextmanager
    async def made(script: Script) -> AsyncIterator[Scripted]:
        async with ScriptedEndpoint(script) as endpoint:
            llm = {"base_url": endpoint.base_url, "model": "scripted", **QUICK}
            async with (
                shared_server(tiny_models, tmp_path, llm=llm) as app,
                grpc.aio.insecure_channel(app.address) as channel,
            ):
                yield Scripted(JudgeServiceStub(channel), endpoint)

    return made


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


async def test_without_a_model_the_tools_decide(stub: JudgeServiceStub) -> None:
    synthesis = (await stub.Synthesize(ask())).synthesis
    assert (synthesis.final_answer, synthesis.level) == ("C", fusion_pb2.QUALITY_LEVEL_FAIR)
    assert synthesis.fusion.score == synthesis.fusion.tool_mean == pytest.approx(2.7)
    assert synthesis.fusion.probability_source == fusion_pb2.PROBABILITY_SOURCE_UNIFORM
    assert (synthesis.author, synthesis.degraded, synthesis.error) == ("deterministic", False, "")
    assert synthesis.quality_reasoning
    assert not synthesis.need_replan
    assert not synthesis.HasField("language_model")


async def test_the_worked_examples_of_the_fusion(stub: JudgeServiceStub) -> None:
    logits = pb.LevelLogits(
        **{name: math.log(0.075) for name in ("bad", "poor", "good", "excellent")}, fair=math.log(0.7)
    )
    fair = (await stub.Synthesize(ask(level_answer=pb.LevelAnswer(logits=logits)))).synthesis
    assert round(fair.fusion.score, 2) == 2.94
    assert fair.final_answer == "C"
    perfect = pb.LevelAnswer(logits=pb.LevelLogits(excellent=0.0))
    best = (await stub.Synthesize(ask(evidence=evidence(score(5), score(5, "b")), level_answer=perfect))).synthesis
    assert round(best.fusion.score, 2) == 5.00
    assert best.final_answer == "A"


async def test_the_papers_form_stays_below_five(stub: JudgeServiceStub) -> None:
    request = ask(
        evidence=evidence(score(5), score(5, "b")),
        level_answer=pb.LevelAnswer(logits=pb.LevelLogits(excellent=0.0)),
        options=pb.SynthesisOptions(fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW),
    )
    assert round((await stub.Synthesize(request)).synthesis.fusion.score, 2) == 3.61


async def test_a_named_level_is_a_classification(stub: JudgeServiceStub) -> None:
    synthesis = (await stub.Synthesize(ask(level_answer=pb.LevelAnswer(level="Good")))).synthesis
    assert list(synthesis.fusion.probabilities) == pytest.approx([0.05, 0.05, 0.05, 0.8, 0.05])
    assert synthesis.fusion.probability_source == fusion_pb2.PROBABILITY_SOURCE_CLASSIFICATION


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"evidence": evidence()}, pb.REPLAN_REASON_NO_TOOL_SCORES),
        ({"evidence": pb.QualityEvidence(tool_scores=[score(3)])}, pb.REPLAN_REASON_SCOPE_NOT_COVERED),
        ({"scope": pb.QualityScope(objects=pb.ScopeObjects(names=["car"]))}, pb.REPLAN_REASON_SCOPE_NOT_COVERED),
        ({"evidence": evidence(score(4.5), severity=SEVERE)}, pb.REPLAN_REASON_CONTRADICTION),
        ({"evidence": evidence(score(1.5), severity=pb.DISTORTION_SEVERITY_NONE)}, pb.REPLAN_REASON_CONTRADICTION),
        ({"evidence": evidence(score(3), severity=pb.DISTORTION_SEVERITY_UNCERTAIN)}, pb.REPLAN_REASON_UNCERTAIN),
        ({"evidence": evidence(score(3, aspect="Noise"))}, pb.REPLAN_REASON_KEY_DISTORTION_NOT_SCORED),
        ({"evidence": evidence(score(5)), "level_answer": SURELY_BAD}, pb.REPLAN_REASON_DISAGREEMENT),
    ],
)
async def test_evidence_that_does_not_suffice_asks_for_more(
    stub: JudgeServiceStub, fields: dict[str, Any], reason: int
) -> None:
    synthesis = (await stub.Synthesize(ask(**fields))).synthesis
    assert synthesis.need_replan
    assert synthesis.replan_reason
    assert reason in [need.reason for need in synthesis.replan_needs]


async def test_nothing_to_answer_from_is_an_error_in_the_answer(stub: JudgeServiceStub) -> None:
    synthesis = (await stub.Synthesize(pb.SynthesizeRequest(question=QUESTION, mode=SCORING))).synthesis
    assert (synthesis.final_answer != "", synthesis.level, synthesis.need_replan) == (True, 0, True)
    assert synthesis.error
    assert not synthesis.HasField("fusion")


async def test_a_score_that_is_no_number_is_left_out_with_a_note(stub: JudgeServiceStub) -> None:
    synthesis = (await stub.Synthesize(ask(evidence=evidence(score(math.nan), score(4.0, "b"))))).synthesis
    assert synthesis.fusion.score == 4.0
    assert any("tool_scores[0]" in note for note in synthesis.notes)


async def test_a_mapping_brings_a_score_to_the_scale(stub: JudgeServiceStub) -> None:
    mapping = fusion_pb2.LogisticMapping(b4=0.04, b5=1)
    synthesis = (await stub.Synthesize(ask(evidence=evidence(score(50, mapping=mapping))))).synthesis
    assert synthesis.fusion.score == pytest.approx(3)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"question": " "}, "question"),
        ({"question": "x" * 4_001}, "question"),
        ({"mode": pb.SYNTHESIS_MODE_UNSPECIFIED}, "mode"),
        ({"mode": UNKNOWN}, "mode"),
        ({"choices": ["a", "b"]}, "choices"),
        ({"mode": EXPLANATION, "choices": ["a"]}, "choices"),
        ({"mode": EXPLANATION, "choices": ["a", "a"]}, "choices[1]"),
        ({"scope": pb.QualityScope(name="global")}, "scope"),
        ({"scope": pb.QualityScope(name="car")}, "scope"),
        ({"scope": pb.QualityScope()}, "scope"),
        ({"scope": pb.QualityScope(objects=pb.ScopeObjects())}, "scope"),
        ({"scope": pb.QualityScope(objects=pb.ScopeObjects(names=["a", "a"]))}, "scope[1]"),
        ({"level_answer": pb.LevelAnswer(level="F")}, "level_answer.level"),
        ({"level_answer": pb.LevelAnswer(level="")}, "level_answer.level"),
        ({"level_answer": pb.LevelAnswer()}, "level_answer"),
        ({"level_answer": pb.LevelAnswer(logits=pb.LevelLogits())}, "level_answer.logits"),
        ({"level_answer": pb.LevelAnswer(logits=pb.LevelLogits(bad=math.nan))}, "level_answer.logits"),
        ({"mode": EXPLANATION, "level_answer": pb.LevelAnswer(level="A")}, "level_answer"),
        ({"evidence": evidence(score(0.5))}, "evidence.tool_scores[0].score"),
        ({"evidence": evidence(score(3), score(5.5, "b"))}, "evidence.tool_scores[1].score"),
        ({"evidence": evidence(score(math.inf))}, "evidence.tool_scores[0].score"),
        ({"evidence": evidence(score(3, ""))}, "evidence.tool_scores[0].tool"),
        ({"evidence": evidence(severity=0)}, "evidence.distortion_analysis[0].findings[0].severity"),
        ({"options": pb.SynthesisOptions(eta=-1)}, "options.eta"),
        ({"options": pb.SynthesisOptions(fusion_form=UNKNOWN)}, "options.fusion_form"),
        ({"images": [png(), b"GIF89a"]}, "images[1]"),
        ({"images": [png()[:-20]]}, "images[0]"),
        ({"images": [png().replace(b"IDAT", b"IDAT\x01", 1)]}, "images[0]"),
        ({"images": [b""]}, "images[0]"),
        ({"images": [b"\0" * (MAX_IMAGE_BYTES + 1)]}, "images[0]"),
        ({"images": [png(8, 8)]}, "images[0]"),
        ({"images": [png(5_000, 5_000)]}, "images[0]"),
        ({"images": [png()] * 5}, "images"),
        ({"context": "x" * 20_001}, "context"),
        ({"priority": UNKNOWN}, "priority"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_wrong_field_is_named(stub: JudgeServiceStub, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(AioRpcError) as caught:
        await stub.Synthesize(ask(**fields))
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == [field]
    assert "expected" in str(caught.value.details())
    assert len(str(caught.value.details())) < 500  # no user text comes back


async def test_the_model_gives_the_words_and_the_tools_share_the_score(scripted: Any) -> None:  # noqa: ANN401
    script = Script(replies=(Reply("How good", reply("D")),), supports_logprobs=False, keep_bodies=True)
    async with scripted(script) as served:
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


async def test_without_leave_the_model_is_not_asked(scripted: Any) -> None:  # noqa: ANN401
    async with scripted(Script()) as served:
        request = ask(options=pb.SynthesisOptions(use_language_model=False))
        assert (await served.stub.Synthesize(request)).synthesis.author == "deterministic"
        assert served.endpoint.log.requests.total() == 0


@pytest.mark.parametrize(
    "script",
    [
        Script(replies=(Reply("How good", "I cannot help with that."),)),
        Script(replies=(Reply("How good", '{"final_answer": "C", "quality_'),)),
        Script(replies=(Reply("How good", reply("F")),)),
        Script(replies=(Reply("How good", reply(quality_reasoning="")),)),
        Script(replies=(Reply("How good", reply(used_evidence=["D9", "X"])),)),
        Script(faults=FaultPlan({Fault.HTML: 1.0})),
        Script(faults=FaultPlan({Fault.EMPTY: 1.0})),
        Script(faults=FaultPlan({Fault.SERVER_ERROR: 1.0})),
        Script(faults=FaultPlan({Fault.RESET: 1.0})),
    ],
    ids=["refusal", "half a JSON", "unknown level", "no reasoning", "invented ids", "html", "empty", "500", "reset"],
)
async def test_a_model_that_fails_leaves_a_degraded_answer(scripted: Any, script: Script) -> None:  # noqa: ANN401
    async with scripted(script) as served:
        synthesis = (await served.stub.Synthesize(ask(evidence=evidence(score(2.6), scope="car")))).synthesis
    assert (synthesis.degraded, synthesis.need_replan) == (True, False)
    assert synthesis.error
    assert synthesis.author == "deterministic"
    assert (synthesis.final_answer, synthesis.quality_reasoning != "") == ("C", True)
    assert [need.reason for need in synthesis.replan_needs] == [pb.REPLAN_REASON_SCOPE_NOT_COVERED]


async def test_a_client_that_leaves_ends_the_call_of_the_model(scripted: Any) -> None:  # noqa: ANN401
    async with scripted(Script()) as served:
        log = served.endpoint.log
        served.endpoint.gate.clear()
        call = served.stub.Synthesize(ask())
        asked = asyncio.ensure_future(call.code())
        await log.until(lambda log: log.in_flight > 0)
        call.cancel()
        assert await asked is StatusCode.CANCELLED
        await log.until(lambda log: log.in_flight == 0)
        assert log.left == 1
        served.endpoint.gate.set()


async def test_a_deadline_ends_the_call_of_the_model(scripted: Any) -> None:  # noqa: ANN401
    async with scripted(Script()) as served:
        served.endpoint.gate.clear()
        assert await served.stub.Synthesize(ask(), timeout=0.2).code() is StatusCode.DEADLINE_EXCEEDED
        await served.endpoint.log.until(lambda log: log.left == 1)
        served.endpoint.gate.set()
