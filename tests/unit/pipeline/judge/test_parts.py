"""A request for some frameworks gets their scores as a request for all does, from no more evidence than they read."""

import pytest

from pipeline.judge.cache import JudgeCaches
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judge import Judge
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework
from tests.unit.pipeline.judge.judging import JUDGE, SOURCE, SUMMARY, TWIN, ULTRA, Fakes


def held(table: EvidenceTable) -> dict[str, bool]:
    """Tells which of the parts are there that not every framework reads."""
    return {
        "intent": bool(table.intent),
        "twin_key_points": bool(table.twin_key_points),
        "judge_key_points": bool(table.judge_key_points),
        "questions": bool(table.coverage_questions and table.claim_questions),
        "cosines": any(segment.theme_cosine for segment in table.segments),
        "salient_share": bool(table.salient_share),
    }


@pytest.mark.parametrize("frameworks", [(TWIN,), (JUDGE,), (ULTRA,), (TWIN, JUDGE), (TWIN, ULTRA), (JUDGE, ULTRA)])
async def test_a_framework_scores_alike_whoever_is_asked_beside_it(frameworks: tuple[Framework, ...]) -> None:
    everything = await Fakes().judge()
    some = await Fakes().judge(JudgeRequest(SOURCE, SUMMARY, frameworks))
    assert [some[framework] for framework in frameworks] == [everything[framework] for framework in frameworks]


@pytest.mark.parametrize(
    ("framework", "parts"),
    [
        (TWIN, {"intent", "twin_key_points"}),
        (JUDGE, {"intent", "judge_key_points", "questions"}),
        (ULTRA, {"judge_key_points", "cosines", "salient_share"}),
    ],
)
async def test_only_what_is_read_is_made(framework: Framework, parts: set[str]) -> None:
    everything = (await Fakes().judge()).evidence
    table = (await Fakes().judge(JudgeRequest(SOURCE, SUMMARY, (framework,)))).evidence
    assert held(everything) == dict.fromkeys(held(everything), True)
    assert {name for name, is_held in held(table).items() if is_held} == parts


async def test_rules_alone_need_fewer_pairs() -> None:
    everything, rules = Fakes(), Fakes()
    await everything.judge()
    await rules.judge(JudgeRequest(SOURCE, SUMMARY, (TWIN,)))
    assert sum(map(len, rules.entailment.calls)) < sum(map(len, everything.entailment.calls))


async def test_a_table_with_fewer_parts_is_no_answer_to_who_asks_for_more() -> None:
    judge = Judge(caches=JudgeCaches())
    rules = await Fakes().judge(JudgeRequest(SOURCE, SUMMARY, (TWIN,)), judge)
    everything = await Fakes().judge(JudgeRequest(SOURCE, SUMMARY), judge)
    assert rules.request_hash != everything.request_hash
    assert not everything.is_cached
    assert everything.evidence.judge_key_points
