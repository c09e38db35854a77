"""Assessments: requests become domain types, and events become messages, without losing anything."""

from dataclasses import replace
from typing import Any

import pytest
from precis.v1 import common_pb2, fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.request import AssessRequest, AssessStage
from pipeline.assess.run import Assessment, AssessPlan, EvidenceGathered, Synthesized, ToolRun
from pipeline.assess.synthesis.evidence import ToolScore
from pipeline.assess.synthesis.request import Mode
from pipeline.assess.synthesis.result import ReplanNeed, ReplanReason
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import FusionForm
from pipeline.llm.chat_model import LlmUsage
from server.services.assess_reply import AssessNames, quality_scope, to_assess_event, to_quality_evidence, to_synthesis
from server.services.judge_request import parse_assess
from tests.unit.server.mirror import filled
from tests.unit.server.services.test_convert_synthesis import ANSWER, EVIDENCE

UNKNOWN: Any = 9  # proto3 lets unknown numbers through
MODEL = "m@there"
NAMES = AssessNames("p@here, m@there", MODEL)


def test_what_is_not_set_is_left_to_the_planner() -> None:
    request = pb.AssessRequest(question="Is it true?", source="S", summary="s")
    assert parse_assess(request) == AssessRequest(question="Is it true?", source="S", summary="s")


def test_everything_that_is_set_is_read() -> None:
    request = pb.AssessRequest(
        question="Which?",
        mode=pb.SYNTHESIS_MODE_EXPLANATION,
        choices=["this", "that"],
        scope=pb.QualityScope(objects=pb.ScopeObjects(names=["car"])),
        source="S",
        summary="s",
        images=[b"one"],
        reference=b"two",
        tool_scores=[pb.QualityToolScore(tool="mine", score=4.5, aspect="Noise")],
        options=pb.SynthesisOptions(
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


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.AssessRequest(mode=UNKNOWN), "mode"),
        (pb.AssessRequest(stage=UNKNOWN), "stage"),
        (pb.AssessRequest(scope=pb.QualityScope(name="all")), "scope"),
        (pb.AssessRequest(options=pb.SynthesisOptions(fusion_form=UNKNOWN)), "options.fusion_form"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_wrong_field_is_named(request_: pb.AssessRequest, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_assess(request_)
    assert caught.value.field == field


def test_a_plan_keeps_everything() -> None:
    plan = filled(AssessPlan)
    sent = to_assess_event(plan, NAMES).plan
    assert (sent.iteration, sent.reason, sent.author, sent.is_wide) == (plan.iteration, plan.reason, plan.author, True)
    assert (tuple(sent.distortions), tuple(sent.tools), tuple(sent.notes)) == (plan.distortions, plan.tools, plan.notes)
    assert tuple(sent.scope.objects.names) == plan.scope
    assert pb.SynthesisMode.Name(sent.mode).endswith(plan.mode.name)


def test_the_whole_is_told_from_objects() -> None:
    plan = filled(AssessPlan)
    assert quality_scope(replace(plan, scope=("Global",))) == pb.QualityScope(name="Global")
    objects = pb.QualityScope(objects=pb.ScopeObjects(names=["Global", "car"]))
    assert quality_scope(replace(plan, scope=("Global", "car"))) == objects


def test_a_tool_that_ran_is_told_from_one_that_failed() -> None:
    ran = to_assess_event(ToolRun(1, "blur", ToolScore("blur", 4.5, "car", "Blurs"), 0.0), NAMES).tool
    assert (ran.iteration, ran.tool, ran.raw, ran.error) == (1, "blur", 0.0, "")
    assert ran.HasField("raw")
    assert (ran.score.score, ran.score.scope, ran.score.aspect) == (4.5, "car", "Blurs")
    failed = to_assess_event(ToolRun(0, "ssim", None, None, "no_size: too small"), NAMES).tool
    assert (failed.tool, failed.error) == ("ssim", "no_size: too small")
    assert not failed.HasField("raw")
    assert not failed.HasField("score")


def test_evidence_and_answers_keep_their_iteration() -> None:
    gathered = to_assess_event(EvidenceGathered(2, EVIDENCE), NAMES).evidence
    assert (gathered.iteration, gathered.evidence) == (2, to_quality_evidence(EVIDENCE))
    made = to_assess_event(Synthesized(2, ANSWER, begins_again=True), NAMES).synthesis
    assert (made.iteration, made.begins_again) == (2, True)
    assert made.synthesis == to_synthesis(ANSWER, language_model=MODEL)


def test_the_outcome_keeps_everything() -> None:
    outcome = Assessment(
        filled(AssessPlan), ANSWER, 2, ("first", "second"), EVIDENCE, LlmUsage(5, 60, 7, 2), ("a note",), 1.25
    )
    sent = to_assess_event(outcome, NAMES).assessment
    assert sent.synthesis == to_synthesis(ANSWER, language_model=MODEL)
    assert (sent.iteration_count, list(sent.replan_history), list(sent.notes)) == (2, ["first", "second"], ["a note"])
    assert sent.evidence == to_quality_evidence(EVIDENCE)
    assert sent.plan.reason == outcome.plan.reason
    assert sent.elapsed.ToMilliseconds() == 1250
    assert sent.language_model == common_pb2.LlmUsage(
        identity=NAMES.all_roles, calls=5, prompt_tokens=60, completion_tokens=7, retries=2
    )


def test_what_a_plan_is_to_find_is_told_with_its_reason() -> None:
    needs = (ReplanNeed(ReplanReason.KEY_DISTORTION_NOT_SCORED, "no tool score for Blurs in car", ("car",)),)
    sent = to_assess_event(replace(filled(AssessPlan), needs=needs), NAMES).plan
    (need,) = sent.needs
    assert (need.reason, list(need.scope)) == (pb.REPLAN_REASON_KEY_DISTORTION_NOT_SCORED, ["car"])


@pytest.mark.parametrize("stage", AssessStage)
def test_the_last_step_is_read(stage: AssessStage) -> None:
    number = pb.AssessStage.Value(f"ASSESS_STAGE_{stage.name}")
    assert parse_assess(pb.AssessRequest(stage=number)).stage is stage


def test_an_outcome_that_stops_before_the_answer_leaves_it_unset() -> None:
    outcome = Assessment(filled(AssessPlan), None, 0, (), None, LlmUsage(), (), 0.5)
    sent = to_assess_event(outcome, NAMES).assessment
    assert not sent.HasField("synthesis")
    assert not sent.HasField("evidence")
    assert sent.HasField("plan")
