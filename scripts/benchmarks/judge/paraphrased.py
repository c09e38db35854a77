"""Summaries in other words than their source: are their scores above those of false ones, and of vague ones?

`paraphrases.jsonl` has 56 passages, each with a faithful summary, the same with two false sentences, and a vague one.
A threshold was chosen with the first 36 in view. The other 20 were written afterwards and are reported.
"""

import json
from pathlib import Path

from pipeline.judge.result import Framework, MetricName
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner

_DATA = Path(__file__).resolve().parents[2] / "data" / "judge" / "paraphrases.jsonl"
_SEEN = 36
_KINDS = ("paraphrase", "wrong", "vague")


async def measure_paraphrased(runner: JudgeRunner, results: Results) -> None:
    """Reports how often Ultra's coverage and hallucination are higher for the faithful summary, and their means."""
    rows = [json.loads(line) for line in _DATA.read_text(encoding="utf-8").splitlines()][_SEEN:]
    items = [(row["passage"], row[kind]) for row in rows for kind in _KINDS]
    judged = await runner.judge_all(items, "summaries in other words")
    for metric in (MetricName.COVERAGE, MetricName.HALLUCINATION):
        scores = [judgement[Framework.ULTRA][metric].score or 0.0 for judgement in judged]
        of = {kind: scores[at :: len(_KINDS)] for at, kind in enumerate(_KINDS)}
        for kind in _KINDS[1:]:
            pairs = zip(of["paraphrase"], of[kind], strict=True)
            higher = sum(faithful > other for faithful, other in pairs) / len(rows)
            results.add(f"Ultra's {metric} of a summary in other words is above a {kind} one ({len(rows)})", higher)
            results.figures[f"paraphrased_above_{kind}_{metric}"] = higher
        means = ", ".join(f"{kind} {sum(found) / len(rows):.2f}" for kind, found in of.items())
        results.add("  mean scores", means)
