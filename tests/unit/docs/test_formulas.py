"""The worked examples of docs/formulas.md run, show the numbers that come out, and agree with the code."""

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pipeline.agreement.measures import auc, cohen_kappa, expected_calibration_error
from pipeline.evaluate.components import COMPONENTS, applied_weights, harmonic_mean, score_flow, score_length
from pipeline.evaluate.config import EvaluateWeights
from pipeline.evaluate.result import EntailmentEvidence
from pipeline.judge.fusion import assess_agreement, fuse, smooth
from pipeline.judge.locks.alignment import score_of_drift
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import FrameworkResult
from pipeline.judge.ultra.score import score_of, support_limit
from pipeline.reading.terms import find_terms
from pipeline.summarize.plan import level_calls
from pipeline.summarize.retention import Mentions, find_stated, measure, measure_recall
from pipeline.support.claim_support import claim_support, signals
from tests.unit.pipeline.judge.tables import (
    FULLY,
    NOT,
    PARTLY,
    P,
    S,
    U,
    claims,
    drifting,
    key_points,
    place,
    segments,
    table,
)
from tests.unit.pipeline.judge.tables import questions as answered

PAGE = Path(__file__).resolve().parents[3] / "docs" / "formulas.md"
SHOWN = re.compile(r"^(\w+) = .*  # (\S+)$", re.MULTILINE)


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run(code: list[str]) -> tuple[Mapping[str, Any], list[tuple[str, str, float]]]:
    """Runs the blocks one after the other; returns all names, and of each number that is shown what it should be."""
    names: dict[str, Any] = {}
    shown = []
    for block in code:
        exec(block, names)  # noqa: S102 - a page of this repository
        shown += [(name, number, names[name]) for name, number in SHOWN.findall(block)]
    return names, shown


@pytest.fixture(scope="module")
def example() -> SimpleNamespace:
    return SimpleNamespace(**run(blocks())[0])


def test_every_number_on_the_page_is_what_its_line_computes() -> None:
    shown = run(blocks())[1]
    digits = {name: len(number.partition(".")[2]) for name, number, _ in shown}
    assert {name: number for name, number, value in shown if float(number) != round(value, digits[name])} == {}
    assert len(shown) > 40


def test_a_wrong_number_would_be_seen() -> None:
    assert run(["a = 1 / 3  # 0.34\n"])[1] == [("a", "0.34", 1 / 3)]


def test_the_loss_is_that_of_evaluate(example: SimpleNamespace) -> None:
    point = place("summary", 0)
    positions = {0: 0.9, 2: 0.9, 1: 0.9, 3: 0.9, 4: 0.4}
    flow = score_flow(
        [EntailmentEvidence(point, point, 0.9, 0, p, hit=True, sentence_index=at) for at, p in positions.items()]
    )
    length = score_length(330, 1800, declared_input_tokens=0, tokenizer_name="")
    assert flow.score == pytest.approx(example.flow)
    assert harmonic_mean(example.precision_of_facts, example.recall_of_facts) == pytest.approx(example.facts)
    assert length.target_tokens == example.target
    assert length.score == pytest.approx(example.length)
    weights = EvaluateWeights()
    for left_out, loss in (((), example.loss), (("flow",), example.loss_without_outline)):
        applied = applied_weights([name for name in COMPONENTS if name not in left_out], weights)
        assert sum(share * (1 - getattr(example, name)) for name, share in applied.items()) == pytest.approx(loss)


def test_the_probability_of_a_claim_is_that_of_the_judge(example: SimpleNamespace) -> None:
    assert claim_support(signals(example.entailment, example.known)) == pytest.approx(example.probability)


def test_both_locks_score_the_table_as_the_page_does(example: SimpleNamespace) -> None:
    made = table(
        made_claims=claims(S, S, S, S, P, U),
        points=key_points(FULLY, FULLY, FULLY, PARTLY, NOT),
        made_segments=segments(0.9, 0.5),
        tone=drifting(0.3),
        coverage=answered(1, 1, 1, 1, 0.5, 0),
        about_claims=answered(1, 1, 1, 1, 1, 0.5, side="summary"),
    )

    def scores(result: FrameworkResult) -> dict[str, float | None]:
        return {metric.name: metric.score for metric in result.metrics}

    for lock, name in ((TWIN_LOCK, "twin"), (JUDGE_LOCK, "judge")):
        found = scores(score_lock(made, lock))
        assert found == {metric: getattr(example, f"{name}_{metric}") for metric in found}
    inputs = score_lock(made, JUDGE_LOCK).metrics[0].inputs
    assert inputs["uncapped_score"] == pytest.approx(example.coverage_before_caps)


@pytest.mark.parametrize("percent", [0, 1, 30, 40, 41, 59, 60, 80, 100])
def test_alignment_falls_as_the_page_says(example: SimpleNamespace, percent: int) -> None:
    assert float(score_of_drift(Fraction(percent, 100))[0]) == pytest.approx(example.alignment(percent / 100))


def test_ultra_is_fused_as_the_page_does(example: SimpleNamespace) -> None:
    opinions = smooth((0, 0.05, 0.15, 0.6, 0.2))
    fusion = fuse([4.2, 3.4], opinions, weights=[1, 0.35])
    agreement = assess_agreement(fusion, opinions, verified_share=3 / 4, certainty=0.7)
    assert fusion.tool_mean == pytest.approx(example.q_bar)
    assert fusion.score == pytest.approx(example.q)
    assert score_of(fusion.score) == pytest.approx(example.ultra_score)
    assert agreement.coefficient == pytest.approx(example.agreement)
    assert agreement.confidence == pytest.approx(example.confidence)
    assert support_limit(example.u) == pytest.approx(example.limit)


def test_agreement_is_measured_as_the_page_does(example: SimpleNamespace) -> None:
    good, passed = (np.asarray(values, dtype=bool) for values in (example.good, example.passed))
    assert cohen_kappa(passed, good) == pytest.approx(example.kappa)
    assert auc(np.asarray(example.scores, dtype=np.float64), good) == pytest.approx(example.auc)
    promised = np.asarray(example.promised, dtype=np.float64)
    assert expected_calibration_error(promised, good) == pytest.approx(example.calibration_error)


def test_terms_are_found_and_kept_as_the_page_says(example: SimpleNamespace) -> None:
    terms = find_terms(example.document)
    assert {term.text for term in terms} == set(example.terms)
    assert measure(terms, [Mentions.of(example.summary)]).share == pytest.approx(example.retention)
    stated = find_stated(example.document)
    assert [one.value.text for one in stated] == example.values
    assert measure_recall(stated, [example.summary]).share == pytest.approx(example.value_recall)


def test_the_calls_of_a_summary_are_those_of_its_plan(example: SimpleNamespace) -> None:
    assert sum(level_calls(201, 4)) == example.merges
    assert example.calls == 201 + 67 + 2
