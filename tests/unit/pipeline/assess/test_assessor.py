"""Whole assessments without a language model."""

from dataclasses import replace

import pytest
from scipy.ndimage import gaussian_filter

from pipeline.assess import execute as execute_module
from pipeline.assess.evidence import GLOBAL, DistortionSeverity, ToolScore
from pipeline.assess.images import MissingImageToolsError
from pipeline.assess.request import AssessRequest, AssessStage
from pipeline.assess.result import ReplanReason
from pipeline.judge.result import Framework, MetricName
from tests.unit.pipeline.assess.assessments import TEXT, ScriptedJudge, assess
from tests.unit.pipeline.assess.pictures import encoded, scene
from tests.unit.pipeline.assess.test_images import noisy

HALLUCINATION = MetricName.HALLUCINATION
ABOUT_FACTS = replace(TEXT, question="Is anything hallucinated?")


async def test_each_iteration_tells_plan_tools_evidence_and_answer() -> None:
    told = await assess(ABOUT_FACTS)
    kinds = [type(event).__name__ for event in told.events]
    assert kinds == ["AssessPlan", "ToolRun", "EvidenceGathered", "Synthesized", "Assessment"]
    assert told.assessment.iteration_count == 0
    assert told.assessment.replan_history == ()
    assert told.synthesis == told.answers[-1].synthesis


async def test_scores_of_metrics_become_tool_scores_and_findings() -> None:
    judge = ScriptedJudge({(Framework.ULTRA, HALLUCINATION): 2.0})
    told = await assess(ABOUT_FACTS, judge=judge)
    (run,) = told.runs
    assert run.raw == 2.0
    assert run.score == ToolScore("ultra.hallucination", 1.8, GLOBAL, "hallucination")
    (finding,) = told.gathered[0].evidence.distortion_analysis[GLOBAL] or ()
    assert (finding.kind, finding.severity) == ("hallucination", DistortionSeverity.SEVERE)
    assert [request.frameworks for request in judge.requests] == [(Framework.ULTRA,)]


async def test_the_scale_of_a_summary_is_its_fused_level() -> None:
    told = await assess(TEXT, judge=ScriptedJudge({(Framework.ULTRA, name): 10.0 for name in MetricName}))
    assert told.synthesis.final_answer == "A"
    told = await assess(TEXT, judge=ScriptedJudge({(Framework.ULTRA, name): 0.0 for name in MetricName}))
    assert told.synthesis.final_answer == "E"


async def test_an_abstention_brings_second_opinions() -> None:
    judge = ScriptedJudge({(Framework.ULTRA, HALLUCINATION): None, (Framework.JUDGE_LOCK, HALLUCINATION): 8.0})
    told = await assess(ABOUT_FACTS, judge=judge)
    assert told.runs[0].error == "abstained: the opinions disagree"
    reasons = [need.reason for need in told.answers[0].synthesis.replan_needs]
    assert reasons == [ReplanReason.NO_TOOL_SCORES, ReplanReason.UNCERTAIN]
    assert told.answers[0].begins_again
    second = told.plans[1]
    assert {"twin_lock.hallucination", "judge_lock.hallucination"} < set(second.tools)
    assert [request.frameworks for request in judge.requests] == [(Framework.ULTRA,), tuple(Framework)]  # one table
    assert told.assessment.iteration_count == 1
    assert told.assessment.replan_history == ("no tool scores; uncertain about hallucination in Global",)
    assert not told.synthesis.need_replan


async def test_no_tool_runs_twice() -> None:
    judge = ScriptedJudge({(Framework.ULTRA, HALLUCINATION): None})
    told = await assess(ABOUT_FACTS, judge=judge)
    names = [run.tool for run in told.runs]
    assert len(names) == len(set(names))
    assert names.count("ultra.hallucination") == 1


async def test_a_part_is_judged_by_the_claims_that_mention_it() -> None:
    told = await assess(replace(TEXT, scope=("bridge", "tunnel")))
    evidence = told.evidence
    bridge, tunnel = (evidence.distortion_analysis[part] or () for part in ("bridge", "tunnel"))
    assert bridge[0].severity is DistortionSeverity.NONE
    assert tunnel[0].severity is DistortionSeverity.SEVERE
    scores = {score.scope: score.score for score in evidence.tool_scores if score.tool == "claim_labels"}
    assert scores == {"bridge": 5.0, "tunnel": 1.0}
    assert all(score.scope != GLOBAL for score in evidence.tool_scores)


async def test_a_part_that_is_not_found_is_looked_for_more_widely() -> None:
    told = await assess(replace(TEXT, scope=("ancient bridge",)))
    assert told.assessment.iteration_count == 1
    assert told.assessment.replan_history == ("no analysis of ancient bridge; no tool scores",)
    assert told.evidence.distortion_analysis.get("ancient bridge")


async def test_it_ends_when_nothing_else_can_be_tried() -> None:
    told = await assess(replace(TEXT, scope=("pumpkin",), max_replan_iterations=5))
    assert told.assessment.iteration_count == 1
    assert told.synthesis.need_replan
    assert "nothing else can be tried: the evidence stays incomplete" in told.assessment.notes


@pytest.mark.parametrize("limit", [0, 1])
async def test_the_limit_of_iterations_holds(limit: int) -> None:
    told = await assess(replace(TEXT, scope=("pumpkin",), max_replan_iterations=limit))
    assert told.assessment.iteration_count == limit
    assert len(told.answers) == limit + 1
    assert not told.answers[-1].begins_again


async def test_an_image_is_measured() -> None:
    clean = await assess(AssessRequest("Rate it.", images=(encoded(scene()),), reference=encoded(scene())))
    noised = await assess(
        AssessRequest("Rate it.", images=(encoded(noisy(scene(), 0.15)),), reference=encoded(scene()))
    )
    assert [run.tool for run in clean.runs] == ["ssim", "psnr", "blur", "noise", "blockiness"]
    (noise,) = (run for run in noised.runs if run.tool == "noise")
    assert noise.raw == pytest.approx(0.15, rel=0.2)
    before, after = clean.synthesis.fusion, noised.synthesis.fusion
    assert before is not None
    assert after is not None
    assert after.score < before.score - 1
    kinds = {one.kind: one.severity for one in noised.evidence.distortion_analysis[GLOBAL] or ()}
    assert kinds["noise"] is DistortionSeverity.SEVERE


async def test_a_blurred_image_without_noise_is_not_good() -> None:
    told = await assess(AssessRequest("Rate it.", images=(encoded(gaussian_filter(scene(), 4.0)),)))
    fusion, worst = told.synthesis.fusion, told.synthesis.worst_distortion
    assert fusion is not None
    assert worst is not None
    assert fusion.tool_mean is not None
    assert fusion.tool_mean > 3.5  # which alone is Good
    assert worst.kind == "blur"
    assert told.synthesis.final_answer in "CDE"


async def test_objects_in_an_image_cannot_be_found_without_a_model_and_the_answer_says_so() -> None:
    told = await assess(AssessRequest("Rate it.", images=(encoded(scene()),), scope=("car",)))
    output = told.synthesis
    assert output.need_replan
    assert output.replan_reason == "no analysis of car; no tool scores"


async def test_without_the_extra_image_tools_fail_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise MissingImageToolsError

    monkeypatch.setattr(execute_module, "measure_image", missing)
    told = await assess(AssessRequest("Rate it.", images=(encoded(scene()),)))
    assert [run.error for run in told.runs] == [told.runs[0].error] * 3
    assert "scripts/setup images" in str(told.runs[0].error)
    assert told.synthesis.error is not None


async def test_the_planner_alone_runs_no_tool() -> None:
    judge = ScriptedJudge()
    told = await assess(replace(TEXT, stage=AssessStage.PLAN), judge=judge)
    assert [type(event).__name__ for event in told.events] == ["AssessPlan", "Assessment"]
    assert (told.assessment.plan, told.assessment.evidence, told.assessment.synthesis) == (told.plans[0], None, None)
    assert judge.requests == []


async def test_planner_and_executor_give_the_evidence_and_no_answer() -> None:
    told = await assess(replace(ABOUT_FACTS, stage=AssessStage.EVIDENCE))
    kinds = [type(event).__name__ for event in told.events]
    assert kinds == ["AssessPlan", "ToolRun", "EvidenceGathered", "Assessment"]
    assert told.assessment.evidence == told.gathered[0].evidence
    assert told.assessment.synthesis is None


async def test_the_callers_scores_are_kept_through_every_iteration() -> None:
    mine = (ToolScore("mine", 2.5, aspect="style"),)
    told = await assess(replace(TEXT, scope=("Global", "pumpkin"), tool_scores=mine))
    assert all(mine[0] in gathered.evidence.tool_scores for gathered in told.gathered)
    kinds = {one.kind for one in told.evidence.distortion_analysis[GLOBAL] or ()}
    assert "style" in kinds


async def test_equal_requests_tell_the_same() -> None:
    first, second = await assess(TEXT), await assess(TEXT)
    assert first.events[:-1] == second.events[:-1]
    assert replace(first.assessment, elapsed_s=0.0) == replace(second.assessment, elapsed_s=0.0)
