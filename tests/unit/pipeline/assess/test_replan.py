import pytest

from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore
from pipeline.assess.result import ReplanReason, replan_needs
from tests.unit.pipeline.assess.questions import EVIDENCE


def reasons(evidence: Evidence, *scope: str) -> list[ReplanReason]:
    return [need.reason for need in replan_needs(scope or (GLOBAL,), evidence)]


def test_sufficient_evidence_needs_nothing() -> None:
    assert reasons(EVIDENCE) == []


def test_every_part_of_the_scope_must_be_covered() -> None:
    (need,) = replan_needs(("Global", "car", "sky"), EVIDENCE)
    assert need.reason is ReplanReason.SCOPE_NOT_COVERED
    assert need.scope == ("car", "sky")
    assert need.message == "no analysis of car, sky"


@pytest.mark.parametrize("nothing", [None, ()])
def test_an_analysis_that_is_none_or_empty_covers_nothing(nothing: tuple[Finding, ...] | None) -> None:
    evidence = Evidence({GLOBAL: nothing}, EVIDENCE.tool_scores)
    assert reasons(evidence) == [ReplanReason.SCOPE_NOT_COVERED]


@pytest.mark.parametrize(
    ("severity", "aspect", "score", "contradicts"),
    [
        (DistortionSeverity.SEVERE, "Blurs", 4.1, True),
        (DistortionSeverity.SEVERE, "blurs", 4.1, True),
        (DistortionSeverity.SEVERE, "Blurs", 4.0, False),
        (DistortionSeverity.SEVERE, "", 4.1, True),
        (DistortionSeverity.SLIGHT, "Noise", 4.9, False),
        (DistortionSeverity.NONE, "Blurs", 1.9, True),
        (DistortionSeverity.NONE, "", 1.9, True),
        (DistortionSeverity.NONE, "Blurs", 2.0, False),
        (DistortionSeverity.NONE, "Noise", 1.0, False),
        (DistortionSeverity.MODERATE, "Blurs", 5.0, False),
        (DistortionSeverity.SLIGHT, "Blurs", 1.0, False),
    ],
)
def test_severity_and_score_may_contradict_each_other(
    severity: DistortionSeverity, aspect: str, score: float, *, contradicts: bool
) -> None:
    evidence = Evidence({GLOBAL: (Finding("Blurs", severity),)}, (ToolScore("IQA", score, aspect=aspect),))
    assert reasons(evidence) == ([ReplanReason.CONTRADICTION] if contradicts else [])


def test_low_quality_as_a_whole_may_have_another_cause() -> None:
    findings = (Finding("Blurs", DistortionSeverity.NONE), Finding("Noise", DistortionSeverity.SEVERE))
    assert reasons(Evidence({GLOBAL: findings}, (ToolScore("IQA", 1.2),))) == []


def test_findings_and_scores_of_other_parts_are_not_read() -> None:
    findings = {
        "dog": (Finding("Blurs", DistortionSeverity.SLIGHT),),
        "cat": (Finding("Blurs", DistortionSeverity.UNCERTAIN), Finding("Noise", DistortionSeverity.SEVERE)),
    }
    scores = (ToolScore("IQA", 3.0, "dog"), ToolScore("IQA", 5.0, "cat"))
    assert reasons(Evidence(findings, scores), "dog") == []
    assert reasons(Evidence(findings, scores), "cat") == [ReplanReason.CONTRADICTION, ReplanReason.UNCERTAIN]
    assert reasons(Evidence(findings, scores[1:]), "dog") == [ReplanReason.NO_TOOL_SCORES]


@pytest.mark.parametrize(
    ("severity", "aspect", "is_missing"),
    [
        (DistortionSeverity.SEVERE, "Noise", True),
        (DistortionSeverity.MODERATE, "Noise", True),
        (DistortionSeverity.SLIGHT, "Noise", False),
        (DistortionSeverity.NONE, "Noise", False),
        (DistortionSeverity.MODERATE, "Blurs", False),
        (DistortionSeverity.MODERATE, "blur", False),
        (DistortionSeverity.MODERATE, "", False),  # quality as a whole
    ],
)
def test_tool_scores_missing_for_key_distortions_ask_for_replanning(
    severity: DistortionSeverity, aspect: str, *, is_missing: bool
) -> None:
    evidence = Evidence({GLOBAL: (Finding("Blurs", severity),)}, (ToolScore("IQA", 3.0, aspect=aspect),))
    assert reasons(evidence) == ([ReplanReason.KEY_DISTORTION_NOT_SCORED] if is_missing else [])


def test_several_gaps_are_all_named() -> None:
    evidence = Evidence({"sky": (Finding("Noise", DistortionSeverity.UNCERTAIN),)})
    gaps = [ReplanReason.SCOPE_NOT_COVERED, ReplanReason.NO_TOOL_SCORES, ReplanReason.UNCERTAIN]
    assert reasons(evidence, "sky", "car") == gaps
