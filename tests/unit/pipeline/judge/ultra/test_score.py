import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pipeline.judge.config import UltraConfig
from pipeline.judge.evidence.table import EvidenceTable, LexiconKind, LexiconSeverity, Tone
from pipeline.judge.fusion import FusionForm, Tool, fuse, smooth
from pipeline.judge.result import Framework, FrameworkResult, MetricName, MetricStatus
from pipeline.judge.ultra.score import ReadLevel, score_ultra
from tests.unit.pipeline.judge.tables import (
    FULLY,
    NEUTRAL,
    NOT,
    P,
    S,
    U,
    claims,
    drifting,
    hit,
    key_points,
    questions,
    segments,
    table,
)
from tests.unit.pipeline.judge.ultra.level_judges import FAIR, ScriptedLevelJudge

COVERAGE, ALIGNMENT, HALLUCINATION = MetricName.COVERAGE, MetricName.ALIGNMENT, MetricName.HALLUCINATION
RELEVANCE, BIAS = MetricName.RELEVANCE, MetricName.BIAS_TOXICITY
CERTAINLY_BAD = (1.0, 0.0, 0.0, 0.0, 0.0)


def score(
    evidence: EvidenceTable,
    config: UltraConfig | None = None,
    read_level: ReadLevel | None = None,
    caller_tools: Mapping[MetricName, Sequence[Tool]] | None = None,
) -> FrameworkResult:
    config = config or UltraConfig()
    return asyncio.run(score_ultra(evidence, config, read_level=read_level, caller_tools=caller_tools))


def test_all_metrics_come_in_the_strict_order() -> None:
    result = score(table())
    assert result.framework is Framework.ULTRA
    assert [metric.name for metric in result.metrics] == list(MetricName)
    assert list(result.objects) == list(MetricName)


def test_without_a_model_the_score_is_the_weighted_mean_of_the_tools() -> None:
    # Coverage: recall (.9 + .9 + .1) / 3, salient .5 / .6.
    metric = score(table(points=key_points(FULLY, FULLY, NOT), coverage=()))[COVERAGE]
    shares = [(0.9 + 0.9 + 0.1) / 3, 0.5 / 0.6]
    expected = 1 + 4 * sum(shares) / 2
    assert metric.inputs["q_bar"] == pytest.approx(expected)
    assert metric.inputs["raw_score"] == pytest.approx(10 * (expected - 1) / 4)
    assert metric.inputs["level_source"] == "none"
    assert metric.inputs["tool_key_point_recall"] == pytest.approx(1 + 4 * shares[0])


def test_the_inputs_are_enough_to_compute_the_score_by_hand() -> None:
    metric = score(table(), read_level=ScriptedLevelJudge().read_level)[HALLUCINATION]
    names = [name.removeprefix("tool_") for name in metric.inputs if name.startswith("tool_")]
    scores = [float(metric.inputs[f"tool_{name}"]) for name in names]
    weights = [float(metric.inputs[f"weight_{name}"]) for name in names]
    q_bar = sum(a * b for a, b in zip(scores, weights, strict=True)) / sum(weights)
    assert metric.inputs["q_bar"] == pytest.approx(q_bar)
    terms = [float(metric.inputs[f"alpha_{c}"]) * float(metric.inputs[f"p_{c}"]) for c in range(1, 6)]
    p = [float(metric.inputs[f"p_{c}"]) for c in range(1, 6)]
    vagueness = (-sum(one * math.log(one) for one in p) / math.log(5)) ** 8
    q = (1 - vagueness) * sum(term * c for c, term in enumerate(terms, start=1)) / sum(terms) + vagueness * q_bar
    assert metric.inputs["q"] == pytest.approx(q)
    assert metric.score == pytest.approx(10 * (q - 1) / 4, abs=0.005)


def test_a_model_is_fused_with_smoothing() -> None:
    metric = score(table(), read_level=ScriptedLevelJudge().read_level)[ALIGNMENT]
    assert metric.inputs["q"] == pytest.approx(fuse([5.0, 5.0], smooth(FAIR)).score)
    assert "The language model: It is fair." in metric.reason


def test_the_form_of_the_paper_can_be_chosen() -> None:
    config = UltraConfig(form=FusionForm.PAPER_RAW)
    metric = score(table(), config, ScriptedLevelJudge().read_level)[ALIGNMENT]
    assert metric.inputs["q"] == pytest.approx(fuse([5.0, 5.0], FAIR, form=FusionForm.PAPER_RAW).score)


def test_a_failing_model_leaves_metrics_to_the_tools_and_is_told_once() -> None:
    failure = "refused: the model declined"
    judge = ScriptedLevelJudge({RELEVANCE: failure, HALLUCINATION: failure})
    outcome = score(table(), read_level=judge.read_level)
    assert outcome.degraded
    assert outcome.notes == (f"hallucination, relevance: tools alone, {failure}",)
    assert failure not in outcome[RELEVANCE].reason
    assert outcome[RELEVANCE].score == score(table())[RELEVANCE].score
    assert outcome[ALIGNMENT].inputs["level_source"] == "log_probabilities"
    assert not score(table()).degraded


def test_opinions_that_disagree_lead_to_abstention_with_the_score_kept() -> None:
    # Tools at 5, the model certain of 1: BC = sqrt(alpha_1 p_1) + ... stays far below .5.
    judge = ScriptedLevelJudge({ALIGNMENT: CERTAINLY_BAD})
    metric = score(table(), read_level=judge.read_level)[ALIGNMENT]
    assert metric.status is MetricStatus.ABSTAINED
    assert metric.score is not None
    assert not metric.counts
    assert metric.reason.endswith("only.")


def test_claims_at_even_odds_are_no_verdict_on_hallucination() -> None:
    made = [replace(claim, probability=0.52) for claim in claims(P, P, P)]
    result = score(table(made_claims=made))
    assert result[HALLUCINATION].status is MetricStatus.ABSTAINED
    assert result[HALLUCINATION].inputs["certainty"] == pytest.approx(0.04)
    assert "neither clearly supported nor clearly unsupported" in result[HALLUCINATION].reason
    assert {result[name].status for name in (COVERAGE, ALIGNMENT, RELEVANCE, BIAS)} == {MetricStatus.SCORED}


def test_no_score_that_reads_claims_passes_a_gate_of_7_with_an_unsupported_one_among_many() -> None:
    result = score(table(made_claims=claims(*[S] * 19, U)))
    assert all(6 < (result[name].score or 0) <= 6.9 for name in (COVERAGE, RELEVANCE, HALLUCINATION))


def test_no_claims_is_a_status_of_its_own() -> None:
    metric = score(table(made_claims=(), about_claims=()))[HALLUCINATION]
    assert (metric.status, metric.score) == (MetricStatus.NO_CLAIMS, 10.0)


def test_a_metric_that_fails_does_not_take_the_others_with_it() -> None:
    broken = replace(table(), tone=replace(NEUTRAL, summary_tone="shouting"))  # type: ignore[arg-type]  # no tone
    result = score(broken)
    assert result[BIAS].status is MetricStatus.ERROR
    assert result.objects[BIAS] == {"error": "malformed_metric: KeyError"}
    assert [metric.status for metric in result.metrics[:4]] == [MetricStatus.SCORED] * 4


def test_scores_of_the_callers_tools_count_like_one_of_ours() -> None:
    metric = score(table(), caller_tools={ALIGNMENT: (Tool("mine", 1.0),)})[ALIGNMENT]
    assert metric.inputs["q_bar"] == pytest.approx((5 + 5 + 1) / 3)
    assert metric.inputs["tool_mine"] == 1.0


def test_drift_lowers_alignment_and_foreign_words_lower_relevance() -> None:
    result = score(table())
    assert (score(table(tone=drifting(0.8)))[ALIGNMENT].score or 0) < (result[ALIGNMENT].score or 0)
    foreign = score(table(made_segments=segments(0.1, 0.2)))[RELEVANCE]
    assert (foreign.score or 0) < (result[RELEVANCE].score or 0)


@pytest.mark.parametrize(
    ("kind", "severity", "most"),
    [(LexiconKind.SLUR, LexiconSeverity.STRONG, 6.0), (LexiconKind.STEREOTYPE, LexiconSeverity.MILD, 7.0)],
)
def test_listed_words_lower_bias(kind: LexiconKind, severity: LexiconSeverity, most: float) -> None:
    assert score(table())[BIAS].score == 10
    assert (score(table(hits=[hit(kind, severity)]))[BIAS].score or 0) < most
    assert score(table(hits=[hit(kind, severity, is_quoted=True)]))[BIAS].score == 10


def test_a_heated_source_excuses_half_of_a_heated_summary() -> None:
    hostile = replace(NEUTRAL, summary_tone=Tone.HOSTILE, tone_distance=1.0)
    inherited = replace(hostile, source_tone=Tone.HOSTILE, tone_distance=0.0)
    own, taken_over = (score(table(tone=tone))[BIAS].score or 0 for tone in (hostile, inherited))
    assert own < taken_over < 10


def test_the_same_table_gives_the_same_result_and_valid_json() -> None:
    first, second = (score(table(), read_level=ScriptedLevelJudge().read_level) for _ in range(2))
    assert first == second
    json.dumps({name.value: value for name, value in first.objects.items()}, allow_nan=False)


def test_scores_have_two_decimals_and_confidence_is_a_share() -> None:
    for metric in score(table(), read_level=ScriptedLevelJudge(claimed=4).read_level).metrics:
        assert metric.score is not None
        assert round(metric.score, 2) == metric.score
        assert metric.confidence == 0  # four quotes claimed, none found


def test_questions_of_a_model_weigh() -> None:
    wrong = table(coverage=questions(0, 0), about_claims=questions(0, 0, side="summary"))
    without = table(coverage=(), about_claims=())
    for name in (COVERAGE, HALLUCINATION):
        assert (score(wrong)[name].score or 0) < (score(without)[name].score or 0)
