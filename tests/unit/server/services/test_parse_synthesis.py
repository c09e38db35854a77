"""Questions about quality become domain types; what is wrong is named."""

from typing import Any

import pytest
from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.synthesis.evidence import DistortionSeverity, Finding, ToolScore
from pipeline.assess.synthesis.request import LevelAnswer, Mode, SynthesisRequest
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import FusionForm, LogisticMapping
from server.services.judge_request import may_ask_language_model, parse_synthesis

UNKNOWN: Any = 9  # proto3 lets unknown numbers through
SCORING = pb.SYNTHESIS_MODE_SCORING
BLUR = pb.DistortionFinding(kind="Blurs", severity=pb.DISTORTION_SEVERITY_MODERATE, explanation="Soft edges.")


def evidence(*findings: pb.DistortionFinding, scopes: tuple[str, ...] = ("Global",)) -> pb.QualityEvidence:
    parts = [pb.ScopeAnalysis(scope=scope, findings=findings) for scope in scopes]
    return pb.QualityEvidence(distortion_analysis=parts)


def test_what_is_not_set_has_a_default() -> None:
    request = pb.SynthesizeRequest(question="How good?", mode=SCORING)
    assert parse_synthesis(request) == SynthesisRequest(question="How good?", mode=Mode.SCORING)
    assert may_ask_language_model(request.options)


def test_everything_that_is_set_is_read() -> None:
    mapping = fusion_pb2.LogisticMapping(b1=1, b2=2, b3=3, b4=4, b5=5)
    found = evidence(BLUR, scopes=("car",))
    found.tool_scores.add(tool="psnr", score=31.5, scope="car", aspect="Noise", mapping=mapping)
    found.tool_scores.add(tool="whole", score=4.5)
    request = pb.SynthesizeRequest(
        question="Which?",
        mode=pb.SYNTHESIS_MODE_EXPLANATION,
        choices=["this", "that"],
        scope=pb.QualityScope(objects=pb.ScopeObjects(names=["car", "tree"])),
        evidence=found,
        images=[b"one", b"two"],
        context="Taken at night.",
        options=pb.SynthesisOptions(fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW, eta=2.5, use_language_model=False),
    )
    parsed = parse_synthesis(request)
    assert (parsed.question, parsed.mode, parsed.choices) == ("Which?", Mode.EXPLANATION, ("this", "that"))
    assert (parsed.scope, parsed.images, parsed.context) == (("car", "tree"), (b"one", b"two"), "Taken at night.")
    assert parsed.evidence.distortion_analysis == {
        "car": (Finding("Blurs", DistortionSeverity.MODERATE, "Soft edges."),)
    }
    assert parsed.evidence.tool_scores == (
        ToolScore("psnr", 31.5, "car", "Noise", LogisticMapping(1, 2, 3, 4, 5)),
        ToolScore("whole", 4.5),
    )
    assert (parsed.form, parsed.eta) == (FusionForm.PAPER_RAW, 2.5)
    assert not may_ask_language_model(request.options)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (pb.LevelAnswer(level="C"), LevelAnswer(level="C")),
        (
            pb.LevelAnswer(logits=pb.LevelLogits(bad=0.0, excellent=-1.5)),
            LevelAnswer(log_probabilities={"bad": 0.0, "excellent": -1.5}),
        ),
        (pb.LevelAnswer(), LevelAnswer()),
    ],
    ids=["level", "logits", "neither"],
)
def test_what_the_callers_model_said_is_read(answer: pb.LevelAnswer, expected: LevelAnswer) -> None:
    request = pb.SynthesizeRequest(mode=SCORING, level_answer=answer)
    assert parse_synthesis(request).level_answer == expected


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.SynthesizeRequest(), "mode"),
        (pb.SynthesizeRequest(mode=UNKNOWN), "mode"),
        (pb.SynthesizeRequest(mode=SCORING, scope=pb.QualityScope(name="global")), "scope"),
        (pb.SynthesizeRequest(mode=SCORING, scope=pb.QualityScope()), "scope"),
        (pb.SynthesizeRequest(mode=SCORING, scope=pb.QualityScope(objects=pb.ScopeObjects())), "scope"),
        (
            pb.SynthesizeRequest(mode=SCORING, scope=pb.QualityScope(objects=pb.ScopeObjects(names=["a", " "]))),
            "scope[1]",
        ),
        (
            pb.SynthesizeRequest(mode=SCORING, evidence=evidence(BLUR, scopes=("car", "car"))),
            "evidence.distortion_analysis[1].scope",
        ),
        (
            pb.SynthesizeRequest(mode=SCORING, evidence=evidence(BLUR, pb.DistortionFinding(kind="Noise"))),
            "evidence.distortion_analysis[0].findings[1].severity",
        ),
        (
            pb.SynthesizeRequest(mode=SCORING, options=pb.SynthesisOptions(fusion_form=UNKNOWN)),
            "options.fusion_form",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_wrong_field_is_named(request_: pb.SynthesizeRequest, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_synthesis(request_)
    assert caught.value.field == field
