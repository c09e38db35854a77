"""A judgement reads in one line, and says what is missing."""

import pytest
from precis import Judgement, errors
from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb

from tests.judgements import judgement


def framework(number: pb.JudgeFramework.ValueType, hallucination: float) -> pb.FrameworkResult:
    metric = pb.JudgeMetric(
        name=pb.JUDGE_METRIC_NAME_HALLUCINATION, status=pb.JUDGE_METRIC_STATUS_SCORED, score=hallucination
    )
    return pb.FrameworkResult(framework=number, metrics=[metric], mean_score=hallucination)


def test_the_scores_are_those_of_ultra_or_else_of_the_first_framework() -> None:
    twin, judge, ultra = (framework(number, float(number)) for number in (1, 2, 3))  # type: ignore[arg-type] # numbers
    everything = Judgement(pb.JudgeResult(frameworks=[twin, judge, ultra]))
    assert (everything.hallucination, everything.mean_score) == (3.0, 3.0)
    assert everything.framework("judge-lock").hallucination == 2.0
    assert [scores.framework for scores in everything.frameworks] == ["twin-lock", "judge-lock", "ultra"]
    assert Judgement(pb.JudgeResult(frameworks=[judge, twin])).hallucination == 2.0


def test_a_real_judgement_has_all_five_scores_and_its_claims() -> None:
    result = judgement()
    found = Judgement(result)
    scores = [found.coverage, found.alignment, found.hallucination, found.relevance, found.bias_toxicity]
    assert all(0 <= score <= 10 for score in scores)
    assert [claim.text for claim in found.claims] == [claim.passage.text for claim in result.evidence.claims]
    assert [claim.label for claim in found.unsupported] == ["unsupported"]
    [claim] = found.unsupported
    assert claim.message.label == evidence_pb2.CLAIM_LABEL_UNSUPPORTED
    assert (claim.support, claim.probability) == (result.evidence.claims[-1].support.text, 0.02)
    assert [mismatch.kind for claim in found.claims for mismatch in claim.mismatches] == ["number"]
    assert found.omitted_claim_count == result.evidence.omitted_claim_count


def test_a_metric_without_a_score_is_an_error_that_says_why_and_not_a_number() -> None:
    metric = pb.JudgeMetric(
        name=pb.JUDGE_METRIC_NAME_COVERAGE, status=pb.JUDGE_METRIC_STATUS_ERROR, error="timeout: the model was slow"
    )
    found = Judgement(
        pb.JudgeResult(frameworks=[pb.FrameworkResult(framework=pb.JUDGE_FRAMEWORK_ULTRA, metrics=[metric])])
    )
    with pytest.raises(errors.NoScore, match="coverage has no score: timeout: the model was slow"):
        _ = found.coverage
    assert (found.metric("coverage").status, found.metric("coverage").score) == ("error", None)
    assert found.mean_score is None
    with pytest.raises(errors.NoScore, match="no such metric"):
        _ = found.alignment
    with pytest.raises(errors.NoScore, match="twin-lock"):
        found.framework("twin-lock")


def test_what_a_newer_server_says_is_unknown_and_no_failure() -> None:
    claim = evidence_pb2.Claim(label=77)  # type: ignore[arg-type] # of a newer server
    result = pb.JudgeResult(
        evidence=evidence_pb2.EvidenceTable(claims=[claim]),
        frameworks=[pb.FrameworkResult(framework=77)],  # type: ignore[arg-type] # likewise
    )
    assert [claim.label for claim in Judgement(result).claims] == ["unknown"]
    assert Judgement(result).framework().framework == "unknown"


def test_a_claim_shows_itself_in_one_line() -> None:
    shown = repr(Judgement(judgement()).unsupported[0])
    assert "label='unsupported'" in shown
    assert "message" not in shown


def test_one_bad_claim_is_a_fault_whatever_the_mean_says() -> None:
    found = Judgement(judgement())
    assert found.faults() == found.faults(3, worst_claim=0.2, max_unsupported=1) == ()
    assert found.faults(7) == ("faithfulness is 3.18 of 10, expected 7",)
    assert found.faults(worst_claim=3) == ("the worst claim has 0.20 of 10, expected 3",)
    [fault] = found.faults(max_unsupported=0)
    assert fault == "claims not supported or not checked: 1, expected at most 0"


def test_a_limit_of_claims_is_not_kept_where_none_was_checked() -> None:
    with pytest.raises(errors.NoScore, match="no claim was checked"):
        Judgement(pb.JudgeResult()).faults(max_unsupported=0)
