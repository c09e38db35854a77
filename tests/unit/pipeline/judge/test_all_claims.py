"""Every claim of a summary is checked, however many there are; what a bound leaves out is said beside the scores."""

import pytest

from pipeline.judge.config import JudgeConfig
from pipeline.judge.judge import Judge
from pipeline.judge.judgement import Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework, MetricName, MetricStatus, SupportVerdict
from pipeline.support.claim_support import ClaimLabel
from tests.unit.pipeline.judge.judging import REQUEST, ULTRA, Fakes
from tests.unit.pipeline.judge.long_summaries import INVENTED, SENTENCES, SOURCE, SUMMARY

LONG = JudgeRequest(SOURCE, SUMMARY, tuple(Framework))


def bounded(max_claims: int) -> Judge:
    return Judge(JudgeConfig().with_overrides({"evidence": {"max_claims": max_claims}}))


def statuses(judgement: Judgement, name: MetricName) -> set[MetricStatus]:
    return {result[name].status for result in judgement.frameworks}


async def test_every_claim_of_241_sentences_is_checked_and_the_invented_ones_are_found() -> None:
    fakes = Fakes()
    judgement = await fakes.judge(LONG)
    claims = judgement.table.claims
    assert [claim.passage.text for claim in claims] == SENTENCES
    assert [claim.passage.text for claim in claims if claim.label is ClaimLabel.UNSUPPORTED] == list(INVENTED)
    assert (judgement.claim_count, judgement.checked_claim_count, judgement.unsupported_claim_count) == (241, 241, 5)
    assert judgement.worst_claim_score == round(10 * min(claim.probability for claim in claims), 2)
    assert len({claim for _, claim in fakes.entailment.calls[0]}) == 241
    for name in MetricName:
        assert MetricStatus.PARTIAL not in statuses(judgement, name)


async def test_one_invented_sentence_of_many_passes_no_gate_and_more_lower_the_score() -> None:
    told = [one for one in SENTENCES if one not in INVENTED]
    summaries = [" ".join([*told, *INVENTED[:count]]) for count in range(len(INVENTED) + 1)]
    judged = [await Fakes().judge(JudgeRequest(SOURCE, summary, (ULTRA,))) for summary in summaries]
    scores = [judgement[ULTRA][MetricName.HALLUCINATION].score or 0.0 for judgement in judged]
    assert scores[0] >= 7 > scores[1]
    assert scores == sorted(set(scores), reverse=True)
    verdicts = [judgement.verdict for judgement in judged]
    assert verdicts == [SupportVerdict.SUPPORTED, *[SupportVerdict.HAS_UNSUPPORTED] * len(INVENTED)]


async def test_a_verdict_abstains_where_the_worst_claim_is_unsure_or_unchecked() -> None:
    for judgement in (
        await Fakes().judge(LONG, Judge(JudgeConfig().with_overrides({"evidence": {"partly_supported": 0.0}}))),
        await Fakes().judge(JudgeRequest(SOURCE, SENTENCES[0] + " " + SENTENCES[1]), bounded(1)),
        await Fakes().judge(JudgeRequest(SOURCE, "I'm sorry, but I can't help with that.")),
    ):
        assert judgement.verdict is SupportVerdict.ABSTAINED


async def test_equal_rules_have_one_identity_and_others_another() -> None:
    judges = (Judge(), Judge(), bounded(7), Judge(JudgeConfig().with_overrides({"ultra": {"eta": 2.0}})))
    first, again, *others = [(await Fakes().judge(REQUEST, judge)).config.rules for judge in judges]
    assert first == again
    assert len({first, *others}) == 3


async def test_what_a_bound_leaves_unchecked_is_a_number_and_a_status() -> None:
    judgement = await Fakes().judge(LONG, bounded(100))
    assert (judgement.claim_count, judgement.checked_claim_count) == (241, 100)
    assert judgement.table.omitted_claim_count == 141
    for name in (MetricName.COVERAGE, MetricName.ALIGNMENT, MetricName.HALLUCINATION, MetricName.RELEVANCE):
        assert statuses(judgement, name) <= {MetricStatus.PARTIAL, MetricStatus.ABSTAINED}
        assert MetricStatus.PARTIAL in statuses(judgement, name)
    assert MetricStatus.PARTIAL not in statuses(judgement, MetricName.BIAS_TOXICITY)


async def test_the_objects_of_a_framework_have_the_status_of_its_metrics() -> None:
    judgement = await Fakes().judge(REQUEST, bounded(1))
    shown = judgement[ULTRA].objects
    assert [shown[metric.name]["status"] for metric in judgement[ULTRA].metrics] == [
        metric.status.value for metric in judgement[ULTRA].metrics
    ]


async def test_partial_scores_enter_the_mean() -> None:
    for result in (await Fakes().judge(REQUEST, bounded(1))).frameworks:
        counting = [metric.score for metric in result.metrics if metric.counts and metric.score is not None]
        assert result.mean_score == pytest.approx(sum(counting) / len(counting), abs=0.01)
        assert any(metric.status is MetricStatus.PARTIAL for metric in result.metrics if metric.counts)


async def test_a_bound_that_leaves_nothing_out_changes_no_score() -> None:
    plain, judgement = await Fakes().judge(), await Fakes().judge(REQUEST, bounded(3))
    assert judgement.checked_claim_count == judgement.claim_count == 3
    assert judgement.frameworks == plain.frameworks


async def test_without_claims_there_is_no_worst_one() -> None:
    judgement = await Fakes().judge(JudgeRequest("One. Two.", "2) ...", tuple(Framework)))
    assert (judgement.claim_count, judgement.worst_claim_score) == (0, None)
