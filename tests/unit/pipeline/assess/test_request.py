import math
from dataclasses import replace

import pytest

from pipeline.assess.config import SynthesisLimits
from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore
from pipeline.assess.request import AssessRequest, Mode, SynthesisRequest, check_assessment, check_request, parse_scope
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import LevelSource, LogisticMapping
from tests.unit.pipeline.assess.assessments import TEXT
from tests.unit.pipeline.assess.pictures import encoded, scene
from tests.unit.pipeline.assess.questions import CHOICE, EVIDENCE, OPEN, SCORING


def with_scores(*scores: float, mapping: LogisticMapping | None = None) -> SynthesisRequest:
    tools = tuple(ToolScore("IQA", score, mapping=mapping) for score in scores)
    return replace(SCORING, evidence=Evidence(EVIDENCE.distortion_analysis, tools))


BAD = {
    "question": replace(OPEN, question=" "),
    "choices": replace(CHOICE, choices=("Blur",)),
    "choices[1]": replace(CHOICE, choices=("Blur", "Blur")),
    "scope": replace(OPEN, scope=()),
    "scope[1]": replace(OPEN, scope=("sky", "sky")),
    "evidence.tool_scores[1].score": with_scores(3, 5.01),
    "evidence.tool_scores[0].score": with_scores(math.inf),
    "evidence.tool_scores[0].tool": replace(OPEN, evidence=Evidence({}, (ToolScore("", 3),))),
    "evidence.distortion_analysis": replace(OPEN, evidence=Evidence({"x" * 201: ()})),
    "evidence.distortion_analysis.findings[0].kind": replace(
        OPEN, evidence=Evidence({GLOBAL: (Finding("", DistortionSeverity.NONE),)})
    ),
    "level_answer.level": replace(SCORING, level_answer="F"),
    "level_answer.logits": replace(SCORING, level_answer={"A": math.nan}),
    "images[0]": replace(OPEN, images=(b"no image",)),
    "images[1]": replace(OPEN, images=(encoded(scene()), encoded(scene())[:-20])),
    "options.eta": replace(SCORING, eta=0.0),
    "context": replace(OPEN, context="x" * 20_001),
}


@pytest.mark.parametrize("field", BAD)
def test_what_breaks_a_rule_is_refused_by_name(field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_request(BAD[field], SynthesisLimits())
    assert caught.value.field == field


@pytest.mark.parametrize("request_", [replace(SCORING, choices=("a", "b")), replace(OPEN, level_answer="A")])
def test_parts_of_the_other_mode_are_refused(request_: SynthesisRequest) -> None:
    with pytest.raises(InvalidInputError, match="mode"):
        check_request(request_, SynthesisLimits())


def test_a_score_that_is_no_number_is_left_out_with_a_note() -> None:
    checked = check_request(with_scores(2.0, math.nan, 3.0), SynthesisLimits())
    assert [one.score for one in checked.request.evidence.tool_scores] == [2.0, 3.0]
    assert checked.notes == ("evidence.tool_scores[1] is NaN and was left out",)


def test_a_score_on_another_scale_is_mapped() -> None:
    mapping = LogisticMapping(b1=0, b2=1, b3=0, b4=0.04, b5=1)  # 0..100 -> 1..5
    checked = check_request(with_scores(50, 100, mapping=mapping), SynthesisLimits())
    assert [one.score for one in checked.request.evidence.tool_scores] == pytest.approx([3.0, 5.0])


def test_the_level_of_the_callers_model_becomes_probabilities() -> None:
    named = check_request(replace(SCORING, level_answer="good"), SynthesisLimits()).levels
    assert named is not None
    assert named.source is LevelSource.CLASSIFICATION
    assert named.probabilities == pytest.approx((0.05, 0.05, 0.05, 0.8, 0.05))
    logits = {"A": math.log(3), "B": 0.0}
    weighed = check_request(replace(SCORING, level_answer=logits), SynthesisLimits()).levels
    assert weighed is not None
    assert weighed.source is LevelSource.LOGITS
    assert weighed.probabilities == pytest.approx((0, 0, 0, 0.25, 0.75))


def test_a_scope_is_global_or_names() -> None:
    assert parse_scope("Global") == ("Global",)
    assert parse_scope(["car", "sky"]) == ("car", "sky")


@pytest.mark.parametrize("scope", ["global", "everything", "", [], ["car", ""], ["car", "car"]])
def test_a_scope_that_is_neither_is_refused(scope: str | list[str]) -> None:
    with pytest.raises(InvalidInputError, match=r"^scope"):
        parse_scope(scope)


PNG = encoded(scene())
BAD_ASSESSMENTS = {
    "question": replace(TEXT, question=""),
    "source": replace(TEXT, source=" "),
    "summary": replace(TEXT, summary=""),
    "images": AssessRequest("How good?"),
    "images[0]": AssessRequest("How good?", images=(PNG[:-9],)),
    "reference": AssessRequest("How good?", images=(PNG,), reference=encoded(scene(64))),
    "scope": replace(TEXT, scope=()),
    "choices": replace(TEXT, mode=Mode.SCORING, choices=("a", "b")),
    "tool_scores[1].score": replace(TEXT, tool_scores=(ToolScore("A", 3), ToolScore("B", 0.99))),
    "tool_scores[0].tool": replace(TEXT, tool_scores=(ToolScore("", 3),)),
    "options.max_replan_iterations": replace(TEXT, max_replan_iterations=6),
    "options.eta": replace(TEXT, eta=math.nan),
}


@pytest.mark.parametrize("field", BAD_ASSESSMENTS)
def test_what_breaks_a_rule_of_an_assessment_is_refused_by_name(field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_assessment(BAD_ASSESSMENTS[field], SynthesisLimits())
    assert caught.value.field == field


def test_a_reference_without_an_image_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_assessment(replace(TEXT, reference=PNG), SynthesisLimits())
    assert caught.value.field == "reference"


def test_scores_of_an_assessment_that_are_no_numbers_are_left_out_with_a_note() -> None:
    checked = check_assessment(replace(TEXT, tool_scores=(ToolScore("A", math.nan),)), SynthesisLimits())
    assert checked.request.tool_scores == ()
    assert checked.notes == ("tool_scores[0] is NaN and was left out",)
