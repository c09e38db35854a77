"""The same request again: in any order, with any neighbours, computed anew each time."""

import random
from collections.abc import Sequence
from dataclasses import replace

from pipeline.judge.evidence.table import EvidenceTimings
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import FrameworkResult
from scripts.benchmarks.judge.runner import Item, JudgeRunner

IN_FLIGHT = (1, 2, 4, 8, 3)
"""Of each run."""

_SEED = 5
_NO_TIME = EvidenceTimings(0, 0, 0, 0, 0, 0)


async def repeats_identically(runner: JudgeRunner, items: Sequence[Item], neighbours: Sequence[Item]) -> bool:
    """Judges everything five times, shuffled, beside other neighbours.

    Args:
        runner: one that remembers nothing.
        items: what is compared.
        neighbours: each is judged beside one of the runs.

    Returns:
        Whether all scores, evidence and reasons are equal to the last bit; only timings may differ.
    """
    rng, runs = random.Random(_SEED), []
    for number, in_flight in enumerate(IN_FLIGHT):
        beside = [*items, *neighbours[number :: len(IN_FLIGHT)]]
        order = rng.sample(range(len(beside)), len(beside))
        judged = await runner.judge_all(beside, f"run {number + 1}", in_flight=in_flight, order=order)
        runs.append([_lasting(judgement) for judgement in judged[: len(items)]])
    return all(run == runs[0] for run in runs[1:])


def _lasting(judgement: Judgement) -> tuple[object, tuple[FrameworkResult, ...]]:
    table = judgement.evidence
    return replace(table, timings=_NO_TIME) if table else None, judgement.frameworks
