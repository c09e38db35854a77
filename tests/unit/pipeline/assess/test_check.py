import math
from dataclasses import replace

import pytest

from pipeline.assess.request import AssessRequest, check_assessment
from pipeline.assess.synthesis.config import SynthesisLimits
from pipeline.assess.synthesis.evidence import ToolScore
from pipeline.assess.synthesis.request import Mode
from pipeline.errors import InvalidInputError
from tests.unit.pipeline.assess.assessments import TEXT
from tests.unit.pipeline.assess.images.pictures import encoded, scene

PNG = encoded(scene())
BAD = {
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


@pytest.mark.parametrize("field", BAD)
def test_what_breaks_a_rule_is_refused_by_name(field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_assessment(BAD[field], SynthesisLimits())
    assert caught.value.field == field


def test_a_reference_without_an_image_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_assessment(replace(TEXT, reference=PNG), SynthesisLimits())
    assert caught.value.field == "reference"


def test_scores_that_are_no_numbers_are_left_out_with_a_note() -> None:
    checked = check_assessment(replace(TEXT, tool_scores=(ToolScore("A", math.nan),)), SynthesisLimits())
    assert checked.request.tool_scores == ()
    assert checked.notes == ("tool_scores[0] is NaN and was left out",)
