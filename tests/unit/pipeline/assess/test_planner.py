from dataclasses import replace

import pytest

from pipeline.assess.config import SynthesisLimits
from pipeline.assess.evidence import ToolScore
from pipeline.assess.planner import first_plan, next_plan
from pipeline.assess.request import AssessRequest, Mode, check_assessment
from pipeline.assess.result import ReplanNeed, ReplanReason
from pipeline.assess.run import AssessPlan, AssessTool, available_tools
from tests.unit.pipeline.assess.assessments import TEXT
from tests.unit.pipeline.assess.pictures import encoded, scene

PICTURE = AssessRequest("What do you see?", images=(encoded(scene()),))


def tools(request: AssessRequest) -> tuple[AssessTool, ...]:
    return available_tools(check_assessment(request, SynthesisLimits()))


def plan(request: AssessRequest) -> AssessPlan:
    return first_plan(request, tools(request))


def need(reason: ReplanReason) -> ReplanNeed:
    return ReplanNeed(reason, "missing", ("Global",))


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("How good is this summary?", Mode.SCORING),
        ("Rate it.", Mode.SCORING),
        ("What is the quality of this image?", Mode.SCORING),
        ("What is wrong with it?", Mode.EXPLANATION),
        ("Which score board is shown?", Mode.SCORING),
    ],
)
def test_the_question_decides_the_kind_of_answer(question: str, mode: Mode) -> None:
    assert plan(replace(TEXT, question=question)).mode is mode


def test_the_request_decides_first() -> None:
    assert plan(replace(TEXT, mode=Mode.EXPLANATION)).mode is Mode.EXPLANATION
    assert plan(replace(TEXT, choices=("yes", "no"))).mode is Mode.EXPLANATION
    assert plan(replace(TEXT, scope=("bridge",))).scope == ("bridge",)


@pytest.mark.parametrize(
    ("question", "distortions"),
    [
        ("Is anything hallucinated?", ("hallucination",)),
        ("Is it complete and neutral?", ("coverage", "bias_toxicity")),
        ("How good is it?", ("coverage", "alignment", "hallucination", "relevance", "bias_toxicity")),
    ],
)
def test_the_question_decides_what_is_looked_for_in_a_text(question: str, distortions: tuple[str, ...]) -> None:
    made = plan(replace(TEXT, question=question))
    assert made.distortions == distortions
    assert made.tools == tuple(f"ultra.{one}" for one in distortions)


def test_the_question_decides_what_is_looked_for_in_an_image() -> None:
    assert plan(replace(PICTURE, question="Is it grainy?")).tools == ("noise",)
    assert plan(PICTURE).tools == ("blur", "noise", "blockiness")


def test_a_reference_brings_the_tools_that_compare() -> None:
    request = replace(PICTURE, question="Is it grainy?", reference=encoded(scene()))
    assert plan(request).tools == ("ssim", "psnr", "noise")


def test_what_the_question_quotes_is_its_scope_if_the_summary_has_it() -> None:
    summary = "The bridge opened in 1932."
    for question, scope in (
        ('Is "the bridge" described well?', ("the bridge",)),
        ("Is “the tunnel” described well?", ("Global",)),
    ):
        assert plan(replace(TEXT, question=question, summary=summary)).scope == scope


def test_scores_alone_are_about_what_they_are_about() -> None:
    request = AssessRequest("How good?", tool_scores=(ToolScore("A", 3, "car"), ToolScore("B", 2, "sky")))
    assert plan(request).scope == ("car", "sky")


def test_a_plan_after_missing_scores_runs_every_first_opinion() -> None:
    request = replace(TEXT, question="Is anything hallucinated?")
    after = next_plan(plan(request), [need(ReplanReason.NO_TOOL_SCORES)], tools(request))
    assert after.tools == plan(TEXT).tools
    assert after.iteration == 1


def test_a_plan_after_missing_parts_looks_for_them_more_widely() -> None:
    after = next_plan(plan(TEXT), [need(ReplanReason.SCOPE_NOT_COVERED)], tools(TEXT))
    assert after.is_wide
    assert not plan(TEXT).is_wide


@pytest.mark.parametrize("reason", [ReplanReason.CONTRADICTION, ReplanReason.UNCERTAIN, ReplanReason.DISAGREEMENT])
def test_a_plan_after_doubts_asks_for_second_opinions(reason: ReplanReason) -> None:
    request = replace(TEXT, question="Is anything hallucinated?")
    after = next_plan(plan(request), [need(reason)], tools(request))
    assert after.tools == ("ultra.hallucination", "twin_lock.hallucination", "judge_lock.hallucination")
    assert after.needs == (need(reason),)


def test_a_plan_after_a_key_distortion_without_a_score_runs_every_first_opinion() -> None:
    request = replace(PICTURE, question="Is it grainy?")
    after = next_plan(plan(request), [need(ReplanReason.KEY_DISTORTION_NOT_SCORED)], tools(request))
    assert after.tools == ("blur", "noise", "blockiness")


def test_a_plan_that_finds_nothing_new_is_recognised() -> None:
    doubts = [need(ReplanReason.UNCERTAIN)]
    second = next_plan(plan(TEXT), doubts, tools(TEXT))
    assert not second.does_the_same(plan(TEXT))
    assert next_plan(second, doubts, tools(TEXT)).does_the_same(second)
