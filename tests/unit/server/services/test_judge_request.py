"""Requests for judgements, answers and assessments become domain types; what is wrong is named."""

from typing import Any

import pytest
from precis.v1 import fusion_pb2, synthesis_pb2
from precis.v1 import judge_pb2 as pb

from pipeline.assess.evidence import DistortionSeverity, Finding, ToolScore
from pipeline.assess.request import AssessRequest, AssessStage, LevelAnswer, Mode, SynthesisRequest
from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.fusion import FusionForm, LogisticMapping
from pipeline.judge.locks.caps import RelevanceMode
from pipeline.judge.request import MetricToolScore
from pipeline.judge.result import MetricName
from server.rpc.fields import may_ask_language_model
from server.services.assess_messages import parse_assess, parse_synthesis
from server.services.judge import parse_judge

MAPPING = fusion_pb2.LogisticMapping(b1=1, b2=2, b3=3, b4=4, b5=5)
UNKNOWN: Any = 9  # proto3 lets unknown numbers through
SCORING = synthesis_pb2.SYNTHESIS_MODE_SCORING
BLUR = synthesis_pb2.DistortionFinding(
    kind="Blurs", severity=synthesis_pb2.DISTORTION_SEVERITY_MODERATE, explanation="Soft edges."
)


def score(**fields: Any) -> pb.MetricToolScore:  # noqa: ANN401
    plain: dict[str, Any] = {"metric": pb.JUDGE_METRIC_NAME_COVERAGE, "tool": "summac", "score": 3.5}
    return pb.MetricToolScore(**{**plain, **fields})


def evidence(
    *findings: synthesis_pb2.DistortionFinding, scopes: tuple[str, ...] = ("Global",)
) -> synthesis_pb2.QualityEvidence:
    parts = [synthesis_pb2.ScopeAnalysis(scope=scope, findings=findings) for scope in scopes]
    return synthesis_pb2.QualityEvidence(distortion_analysis=parts)


def test_what_is_not_set_is_the_servers_choice() -> None:
    defaults = JudgeConfig().with_overrides({"ultra": {"eta": 2.5}})
    parsed = parse_judge(pb.JudgeRequest(source="Source.", summary="Summary"), defaults)
    assert (parsed.request.source, parsed.request.summary) == ("Source.", "Summary")
    assert (parsed.request.frameworks, parsed.request.tool_scores) == ((), ())
    assert parsed.config == defaults
    assert parsed.uses_language_model


def test_every_option_reaches_its_setting() -> None:
    options = pb.JudgeOptions(
        use_language_model=False,
        relevance_mode=pb.RELEVANCE_MODE_JACCARD,
        fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW,
        eta=0.5,
        max_claims=5_000,
    )
    parsed = parse_judge(pb.JudgeStreamRequest(source="S", summary="s", options=options), JudgeConfig())
    assert not parsed.uses_language_model
    assert parsed.config.lock.relevance_mode is RelevanceMode.JACCARD
    assert (parsed.config.ultra.form, parsed.config.ultra.eta) == (FusionForm.PAPER_RAW, 0.5)
    assert parsed.config.evidence.max_claims == 5_000


def test_tool_scores_keep_their_order_and_mapping() -> None:
    request = pb.JudgeRequest(
        tool_scores=[score(tool="b"), score(metric=pb.JUDGE_METRIC_NAME_RELEVANCE, score=70.0, mapping=MAPPING)]
    )
    assert parse_judge(request, JudgeConfig()).request.tool_scores == (
        MetricToolScore(MetricName.COVERAGE, "b", 3.5),
        MetricToolScore(MetricName.RELEVANCE, "summac", 70.0, LogisticMapping(1, 2, 3, 4, 5)),
    )


def test_what_is_not_set_in_a_question_has_a_default() -> None:
    request = synthesis_pb2.SynthesizeRequest(question="How good?", mode=SCORING)
    assert parse_synthesis(request) == SynthesisRequest(question="How good?", mode=Mode.SCORING)
    assert may_ask_language_model(request.options)


def test_everything_that_is_set_in_a_question_is_read() -> None:
    found = evidence(BLUR, scopes=("car",))
    found.tool_scores.add(tool="psnr", score=31.5, scope="car", aspect="Noise", mapping=MAPPING)
    found.tool_scores.add(tool="whole", score=4.5)
    request = synthesis_pb2.SynthesizeRequest(
        question="Which?",
        mode=synthesis_pb2.SYNTHESIS_MODE_EXPLANATION,
        choices=["this", "that"],
        scope=synthesis_pb2.QualityScope(objects=synthesis_pb2.ScopeObjects(names=["car", "tree"])),
        evidence=found,
        images=[b"one", b"two"],
        context="Taken at night.",
        options=synthesis_pb2.SynthesisOptions(
            fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW, eta=2.5, use_language_model=False
        ),
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
        (synthesis_pb2.LevelAnswer(level="C"), "C"),
        (
            synthesis_pb2.LevelAnswer(logits=synthesis_pb2.LevelLogits(bad=0.0, excellent=-1.5)),
            {"bad": 0.0, "excellent": -1.5},
        ),
    ],
    ids=["level", "logits"],
)
def test_what_the_callers_model_said_is_read(answer: synthesis_pb2.LevelAnswer, expected: LevelAnswer) -> None:
    request = synthesis_pb2.SynthesizeRequest(mode=SCORING, level_answer=answer)
    assert parse_synthesis(request).level_answer == expected


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"scope": synthesis_pb2.QualityScope(objects=synthesis_pb2.ScopeObjects(names=["a", " "]))}, "scope[1]"),
        ({"level_answer": synthesis_pb2.LevelAnswer()}, "level_answer"),
        ({"evidence": evidence(BLUR, scopes=("car", "car"))}, "evidence.distortion_analysis[1].scope"),
        ({"options": synthesis_pb2.SynthesisOptions(fusion_form=UNKNOWN)}, "options.fusion_form"),
    ],
)
def test_the_wrong_field_of_a_question_is_named(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_synthesis(synthesis_pb2.SynthesizeRequest(mode=SCORING, **fields))
    assert caught.value.field == field


def test_an_unknown_stage_is_named() -> None:
    with pytest.raises(InvalidInputError, match="stage"):
        parse_assess(synthesis_pb2.AssessRequest(stage=UNKNOWN))


def test_what_is_not_set_is_left_to_the_planner() -> None:
    request = synthesis_pb2.AssessRequest(question="Is it true?", source="S", summary="s")
    assert parse_assess(request) == AssessRequest(question="Is it true?", source="S", summary="s")


def test_everything_that_is_set_in_an_assessment_is_read() -> None:
    request = synthesis_pb2.AssessRequest(
        question="Which?",
        mode=synthesis_pb2.SYNTHESIS_MODE_EXPLANATION,
        choices=["this", "that"],
        scope=synthesis_pb2.QualityScope(objects=synthesis_pb2.ScopeObjects(names=["car"])),
        source="S",
        summary="s",
        images=[b"one"],
        reference=b"two",
        tool_scores=[synthesis_pb2.QualityToolScore(tool="mine", score=4.5, aspect="Noise")],
        options=synthesis_pb2.SynthesisOptions(
            fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW, eta=2.5, max_replan_iterations=0, use_language_model=False
        ),
    )
    assert parse_assess(request) == AssessRequest(
        question="Which?",
        mode=Mode.EXPLANATION,
        scope=("car",),
        choices=("this", "that"),
        source="S",
        summary="s",
        images=(b"one",),
        reference=b"two",
        tool_scores=(ToolScore("mine", 4.5, aspect="Noise"),),
        eta=2.5,
        form=FusionForm.PAPER_RAW,
        max_replan_iterations=0,
    )


@pytest.mark.parametrize("stage", AssessStage)
def test_the_last_step_is_read(stage: AssessStage) -> None:
    number = synthesis_pb2.AssessStage.Value(f"ASSESS_STAGE_{stage.name}")
    assert parse_assess(synthesis_pb2.AssessRequest(stage=number)).stage is stage
