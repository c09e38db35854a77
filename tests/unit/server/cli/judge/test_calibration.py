"""A calibration: what the policy gives back, what a file may hold, and which judgements it is for."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.commands.judge import FrameworkChoice, JudgeOptions, ScoreKind
from server.cli.errors import InputError
from server.cli.judge.calibration import (
    Calibration,
    Verdict,
    identity_of,
    is_neutral,
    read_calibration,
    score_of,
    worst_claims,
)
from server.cli.judge.judgements import to_work
from tests.judgements import (
    UNSUPPORTED,
    foreign_judgement,
    in_summary,
    judgement,
    partial_claim,
    supported_claim,
    unsupported_claim,
)

ULTRA_SCORE = 3.18
STRICT = ScoreKind()
LENIENT = ScoreKind(policy="lenient")


def neutral_claim() -> evidence_pb2.Claim:
    """Perhaps true, and not in the source."""
    return evidence_pb2.Claim(
        passage=in_summary("The city will meet its deadline."), probability=0.05, contradiction=0.2, label=UNSUPPORTED
    )


def judged(*claims: evidence_pb2.Claim) -> pb.JudgeResult:
    result = judgement()
    del result.evidence.claims[:]
    result.evidence.claims.extend(claims)
    return result


def fields(**changed: object) -> dict[str, Any]:
    return {
        "version": 1,
        "framework": "ultra",
        "metric": "hallucination",
        "policy": "strict",
        "threshold": 3.0,
        "mapping": {"kind": "platt", "slope": 0.0, "intercept": 0.0},
        "models": [{"name": "tiny-nli", "revision": "main", "sha256": "ab" * 32}],
        "language_model": "",
        "row_count": 20,
        "good_count": 10,
        "data_sha256": "cd" * 32,
        "measures": {},
        **changed,
    }


def written(tmp_path: Path, **changed: object) -> Path:
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(fields(**changed)), encoding="utf-8")
    return path


def fitted(tmp_path: Path) -> Calibration:
    found = read_calibration(written(tmp_path))
    assert found is not None
    return found


def test_the_strict_score_is_that_of_the_judge() -> None:
    assert score_of(judgement(), STRICT) == ULTRA_SCORE
    assert score_of(judgement(), ScoreKind(FrameworkChoice.JUDGE_LOCK, "relevance")) is None
    assert score_of(pb.JudgeResult(), STRICT) is None


def test_the_lenient_score_gives_back_what_neutral_claims_cost() -> None:
    # Doubts .04, .98 and, neutral, .95.
    result = judged(supported_claim(), unsupported_claim(), neutral_claim())
    expected = 10 - (10 - ULTRA_SCORE) * (0.04 + 0.98) / (0.04 + 0.98 + 0.95)
    assert score_of(result, LENIENT) == pytest.approx(expected)


def test_a_claim_is_neutral_when_nothing_speaks_against_it() -> None:
    assert is_neutral(neutral_claim())
    assert not any(map(is_neutral, (supported_claim(), partial_claim(), unsupported_claim())))
    invented = neutral_claim()
    invented.mismatches.add(kind=evidence_pb2.MISMATCH_KIND_NUMBER, claim=in_summary("$17 million"))
    assert is_neutral(invented)  # the source has no such number, and no other in its place
    doubtful = neutral_claim()
    doubtful.contradiction = 0.5
    assert not is_neutral(doubtful)


def test_the_worst_claims_come_first_and_forgiven_ones_last() -> None:
    result = judged(supported_claim(), partial_claim(), neutral_claim(), unsupported_claim())
    doubts = [claim.probability for claim in worst_claims(result, "strict")]
    assert doubts == [0.02, 0.05, 0.41]
    assert [claim.probability for claim in worst_claims(result, "lenient")] == [0.02, 0.41, 0.96]


def test_a_file_comes_back_and_its_framework_judges_too(tmp_path: Path) -> None:
    applied = fitted(tmp_path)
    assert fields()["models"] == [model.model_dump() for model in applied.models]
    work = to_work(JudgeOptions([FrameworkChoice.TWIN_LOCK]), applied, is_bulk=True)
    assert work.terms[:2] == (FrameworkChoice.TWIN_LOCK, FrameworkChoice.ULTRA)
    assert read_calibration(None) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"version": 2}, "version: expected 1"),
        ({"threshold": 11}, "threshold: expected"),
        ({"mapping": {"kind": "platt", "slope": -1, "intercept": 0}}, "slope"),
        ({"mapping": {"kind": "magic"}}, "mapping"),
        ({"models": [{"name": "x", "revision": "", "sha256": "zz"}]}, "sha256"),
        ({"surprise": 1}, "surprise: expected no such field"),
    ],
)
def test_a_file_that_is_no_calibration_is_refused_by_field(
    tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_calibration(written(tmp_path, **changed))


def test_a_verdict_has_score_and_probability(tmp_path: Path) -> None:
    applied = fitted(tmp_path)
    assert applied.verdict_of(judgement()) == Verdict(ULTRA_SCORE, 0.5, "pass")
    low = judgement()
    low.frameworks[2].metrics[2].score = 2.99
    assert asdict(applied.verdict_of(low)) == {"score": 2.99, "probability": 0.5, "verdict": "fail"}
    abstained = judgement()
    abstained.frameworks[2].metrics[2].status = pb.JUDGE_METRIC_STATUS_ABSTAINED
    assert asdict(applied.verdict_of(abstained)) == {"score": None, "probability": None, "verdict": "none"}


def test_a_judgement_by_other_models_has_no_verdict(tmp_path: Path) -> None:
    other = judgement()
    other.models[0].CopyFrom(common_pb2.ModelIdentity(name="tiny-nli", revision="main", sha256="ef" * 32))
    with pytest.raises(InputError, match=r"tiny-nli abababab.*tiny-nli efefefef.*: calibrate again"):
        fitted(tmp_path).verdict_of(other)
    helped = judgement()
    helped.language_model = "some at http://host"
    with pytest.raises(InputError, match="some at"):
        fitted(tmp_path).check(identity_of(helped))


def test_a_judgement_that_no_model_read_has_no_verdict_and_is_not_refused(tmp_path: Path) -> None:
    assert identity_of(foreign_judgement()) is None
    assert fitted(tmp_path).verdict_of(foreign_judgement()) == Verdict()
