"""Answers to questions about quality, and the events of an assessment, become messages without losing anything."""

from dataclasses import replace

from precis.v1 import common_pb2
from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.evidence import DistortionSeverity, Evidence, Finding, ToolScore, WorstDistortion
from pipeline.assess.request import Mode
from pipeline.assess.result import ReplanNeed, ReplanReason, Synthesis
from pipeline.assess.run import Assessment, AssessPlan
from pipeline.judge.fusion import FusionForm, LevelSource, fuse
from pipeline.llm.chat_model import LlmUsage
from server.services.assess_messages import quality_scope, to_assess_event, to_fusion, to_quality_evidence, to_synthesis
from tests.unit.server.filled import filled

EVIDENCE = Evidence(
    {
        "Global": (
            Finding("Blurs", DistortionSeverity.MODERATE, "Soft edges."),
            Finding("Noise", DistortionSeverity.NONE),
        ),
        "car": None,
    },
    (ToolScore("psnr", 2.75, "car", "Noise"), ToolScore("whole", 4.5)),
)
C_AT_70 = (0.075, 0.075, 0.7, 0.075, 0.075)
NEED = ReplanNeed(ReplanReason.SCOPE_NOT_COVERED, "no analysis of car", ("car",))
ANSWER = Synthesis(
    final_answer="C",
    quality_reasoning="Soft.",
    mode=Mode.SCORING,
    fusion=fuse([2.6, 2.8], C_AT_70),
    worst_distortion=WorstDistortion("car", "Noise", 2.75),
    level_source=LevelSource.CLASSIFICATION,
    replan_needs=(NEED,),
    used_evidence=EVIDENCE,
    author="m@there",
    attempt_count=2,
    usage=LlmUsage(3, 40, 5, 1),
    notes=("one", "two"),
)
MODEL = "m@there"
NAMES = {"all_roles": "p@here, m@there", "synthesizer": MODEL}


def test_what_was_not_there_is_not_set() -> None:
    without_tools = to_fusion(fuse([], C_AT_70, form=FusionForm.PAPER_RAW))
    assert not without_tools.HasField("tool_mean")
    assert not without_tools.HasField("agreement")
    assert not without_tools.alpha
    nothing = replace(
        ANSWER, error="no_evidence: none", replan_needs=(), fusion=None, worst_distortion=None, usage=LlmUsage()
    )
    sent = to_synthesis(nothing, language_model="")
    assert not sent.HasField("fusion")
    assert not sent.HasField("worst_distortion")
    assert not sent.HasField("language_model")
    assert (sent.level, sent.error, sent.replan_reason) == (0, "no_evidence: none", "")


def test_a_degraded_answer_names_the_model_that_failed() -> None:
    fallback = replace(ANSWER, error="bad_answers: all", degraded=True, author="deterministic")
    degraded = to_synthesis(fallback, language_model="m@there")
    assert (degraded.need_replan, degraded.replan_reason, len(degraded.replan_needs)) == (False, "", 1)
    assert (degraded.degraded, degraded.author, degraded.language_model.identity) == (True, "deterministic", "m@there")


def test_the_whole_is_told_from_objects() -> None:
    plan = filled(AssessPlan)
    assert quality_scope(replace(plan, scope=("Global",))) == pb.QualityScope(name="Global")
    objects = pb.QualityScope(objects=pb.ScopeObjects(names=["Global", "car"]))
    assert quality_scope(replace(plan, scope=("Global", "car"))) == objects


def test_the_outcome_holds_answer_evidence_and_cost() -> None:
    outcome = Assessment(
        filled(AssessPlan), ANSWER, 2, ("first", "second"), EVIDENCE, LlmUsage(5, 60, 7, 2), ("a note",), 1.25
    )
    sent = to_assess_event(outcome, **NAMES).assessment
    assert sent.synthesis == to_synthesis(ANSWER, language_model=MODEL)
    assert sent.evidence == to_quality_evidence(EVIDENCE)
    assert sent.language_model == common_pb2.LlmUsage(
        identity=NAMES["all_roles"], calls=5, prompt_tokens=60, completion_tokens=7, retries=2
    )


def test_an_outcome_that_stops_before_the_answer_leaves_it_unset() -> None:
    outcome = Assessment(filled(AssessPlan), None, 0, (), None, LlmUsage(), (), 0.5)
    sent = to_assess_event(outcome, **NAMES).assessment
    assert not sent.HasField("synthesis")
    assert not sent.HasField("evidence")
    assert sent.HasField("plan")
