"""Judgements made by hand."""

from dataclasses import replace

from pipeline.judge.config import JudgeConfig
from pipeline.judge.judgement import Judgement, JudgeTimings
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import Framework
from tests.unit.pipeline.judge.tables import table

CONFIG = JudgeConfig()


def judgement(key: str = "a", *, chars: int = 20, degraded: bool = False, broken: bool = False) -> Judgement:
    """Makes a judgement of texts of so many characters together; a broken one has a metric without a score."""
    made = replace(table(points=()) if broken else table(), source="x" * (chars - 1), summary="y")
    verdict = score_lock(made, CONFIG.lock.rules_of(Framework.TWIN_LOCK))
    timings = JudgeTimings(2, 1, 1)
    assert verdict.framework is Framework.TWIN_LOCK
    return Judgement(key, made, (verdict,), CONFIG, None, degraded, (), is_cached=False, timings=timings)
