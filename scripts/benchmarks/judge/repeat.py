"""The same request again: in any order, with any neighbours, computed anew each time."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.judge.evidence.table import EvidenceTimings
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import FrameworkResult
from scripts.benchmarks.judge.runner import Item, JudgeRunner

RUNS = 5
_SEED = 5
_NO_TIME = EvidenceTimings(0, 0, 0, 0, 0, 0)


async def repeats_identically(models: Path, items: Sequence[Item]) -> bool:
    """Judges everything five times, shuffled, one to four at a time; nothing is remembered between the runs.

    Returns:
        Whether all scores, evidence and reasons are equal to the last bit; only timings may differ.
    """
    rng, runs = random.Random(_SEED), []
    async with JudgeRunner(models, remembers=False) as runner:
        for number in range(RUNS):
            order = rng.sample(range(len(items)), len(items))
            judged = await runner.judge_all(items, f"run {number + 1}", in_flight=1 + number % 4, order=order)
            runs.append([_lasting(judgement) for judgement in judged])
    return all(run == runs[0] for run in runs[1:])


def _lasting(judgement: Judgement) -> tuple[object, tuple[FrameworkResult, ...]]:
    table = judgement.evidence
    return replace(table, timings=_NO_TIME) if table else None, judgement.frameworks
