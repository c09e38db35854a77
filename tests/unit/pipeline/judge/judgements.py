"""Judgements made by hand."""

from collections.abc import Sequence
from dataclasses import replace

from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.table import Claim
from pipeline.judge.judgement import Judgement, JudgeTimings
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import Framework
from tests.unit.pipeline.judge.tables import table

CONFIG = JudgeConfig()


def judgement(
    key: str = "a", *, chars: int = 20, claims: Sequence[Claim] = (), degraded: bool = False, broken: bool = False
) -> Judgement:
    """Makes a judgement of texts of so many characters together; a broken one has a metric without a score."""
    scored = table(points=()) if broken else table()
    verdict = score_lock(scored, CONFIG.lock.rules_of(Framework.TWIN_LOCK))
    made = replace(scored, source="x" * (chars - 1), summary="y", claims=tuple(claims))
    timings = JudgeTimings(2, 1, 1)
    assert verdict.framework is Framework.TWIN_LOCK
    return Judgement(key, made, (verdict,), CONFIG, None, degraded, (), is_cached=False, timings=timings)
