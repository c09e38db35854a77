import pytest

from pipeline.assess.choose import choose
from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore
from pipeline.judge.fusion import fuse

FINDINGS = (
    Finding("Blurs", DistortionSeverity.MODERATE),
    Finding("Noise", DistortionSeverity.SEVERE),
    Finding("Loss of detail", DistortionSeverity.SLIGHT),
    Finding("Blocking", DistortionSeverity.NONE),
)
EVIDENCE = Evidence({GLOBAL: FINDINGS})


def test_of_two_equally_severe_problems_the_one_that_scores_lower_is_worse() -> None:
    findings = (Finding("coverage", DistortionSeverity.SEVERE), Finding("hallucination", DistortionSeverity.SEVERE))
    scores = (ToolScore("A", 1.4, aspect="coverage"), ToolScore("B", 1.1, aspect="hallucination"))
    choices = ("It is biased", "It covers too little", "It hallucinates")
    assert choose("What is worst?", choices, Evidence({GLOBAL: findings}, scores), None) == 2
    assert choose("What is worst?", choices, Evidence({GLOBAL: findings}), None) is None


def chosen(question: str, *choices: str) -> str | None:
    index = choose(question, choices, EVIDENCE, fuse([2.6, 2.8]))
    return None if index is None else choices[index]


@pytest.mark.parametrize(
    ("choices", "right"),
    [
        (("Blurry edges", "Noisy shadows", "Blocking"), "Noisy shadows"),
        (("It is blurred.", "Blocking artifacts"), "It is blurred."),
        (("Excellent", "Good", "Fair", "Poor", "Bad"), "Fair"),
        (("detail", "blocking"), "detail"),
    ],
)
def test_the_choice_that_the_evidence_names_is_taken(choices: tuple[str, ...], right: str) -> None:
    assert chosen("Which one?", *choices) == right


def test_a_question_for_the_severity_of_something_is_answered_with_it() -> None:
    choices = ("None", "Slight", "Moderate", "Severe")
    assert chosen("How bad are the blurs?", *choices) == "Moderate"
    assert chosen("How bad is the blocking?", *choices) == "None"
    assert chosen("How bad is the weather?", *choices) is None


@pytest.mark.parametrize("choices", [("Yes", "No"), ("Blocking", "Colour of the sky"), ("Noise left", "Noise right")])
def test_no_choice_is_taken_that_the_evidence_does_not_single_out(choices: tuple[str, ...]) -> None:
    assert chosen("Which one?", *choices) is None
