"""A request for some frameworks gets their scores as a request for all does, from no more evidence than they read."""

import pytest

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework
from tests.unit.pipeline.judge.judging import JUDGE, SOURCE, SUMMARY, TWIN, ULTRA, Fakes


def held(table: EvidenceTable) -> dict[str, bool]:
    """Tells which of the parts are there that not every framework reads."""
    return {
        "intent": bool(table.intent),
        "twin_key_points": bool(table.twin_key_points),
        "judge_key_points": bool(table.judge_key_points),
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
        (JUDGE, {"intent", "judge_key_points"}),
        (ULTRA, {"judge_key_points", "cosines", "salient_share"}),
    ],
)
async def test_only_what_is_read_is_made(framework: Framework, parts: set[str]) -> None:
    everything = (await Fakes().judge()).table
    table = (await Fakes().judge(JudgeRequest(SOURCE, SUMMARY, (framework,)))).table
    assert held(everything) == dict.fromkeys(held(everything), True)
    assert {name for name, is_held in held(table).items() if is_held} == parts
