"""Benchmark: the judge against human judgements, corrupted summaries, repetition, and load.

Without a language model. Weights of the judge were fitted to none of these judgements. Human correlation is Spearman's
unless said otherwise; REALSumm and Newsroom within documents, as their authors do it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.agreement.bootstrap import estimate
from pipeline.agreement.measures import kendall, spearman, within_groups
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import Framework, MetricName
from scripts.benchmarks.judge.adversarial import CORRUPTING, Attack, dropped, make_edits, raised, scores_of
from scripts.benchmarks.judge.baselines import rouge2, summac_zs
from scripts.benchmarks.judge.data import HumanRow, first_of_each, read_rows, sample_documents, sample_rows
from scripts.benchmarks.judge.repeat import repeats_identically
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.benchmarks.judge.service import serve_twin_lock, twin_lock_requests
from scripts.benchmarks.shared.report import Figure, Report, Target

TARGETS = (
    Target("qags_ultra", 0.69),
    Target("ultra_over_judge_lock", 0.0),
    Target("judge_lock_over_summac_zs", 0.0),
    Target("rank19_accuracy", 0.85),
    Target("corruptions_detected", 0.9),
    Target("injection_changed", 0, at_least=False),
    Target("repeat_identical", 1),
    Target("onnx_share", 0.9),
)
CERTAIN = frozenset({"injection_changed", "repeat_identical", "onnx_share"})
"""Figures that a small sample measures too."""


@dataclass(frozen=True)
class Sizes:
    """How much is judged."""

    qags: int
    rank19: int  # pairs
    realsumm: int  # documents
    systems: int  # summaries of each of them; there are 24
    newsroom: int  # documents of 7 summaries
    edits: int
    repeated: int
    served: int


FULL = Sizes(qags=235, rank19=373, realsumm=12, systems=24, newsroom=60, edits=200, repeated=10, served=40)
QUICK = Sizes(qags=10, rank19=20, realsumm=1, systems=4, newsroom=1, edits=8, repeated=1, served=3)


@dataclass
class Results:
    """Rows of the table and figures, as they come."""

    rows: list[list[str]]
    figures: dict[str, Figure]


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Judges every data set that is present. Raises RuntimeError when there is none."""
    qags = read_rows(data, "qags_cnndm")
    if not qags:
        raise RuntimeError(f"no {data}/summaries/qags_cnndm.jsonl; name a data folder with --data")
    sizes, results = QUICK if quick else FULL, Results([], {})
    asyncio.run(_judge_all(models, data, qags, (sizes, results)))
    service = serve_twin_lock(models, twin_lock_requests(read_rows(data, "realsumm") or qags, sizes.served))
    results.rows.append(["Twin-Lock requests/s through gRPC", f"{service.requests_per_s:.2f}", "", ""])
    results.rows.append(["share of ONNX in the server's CPU time", f"{service.onnx_share:.3f}", "", ""])
    results.figures |= {"twin_lock_requests_per_s": service.requests_per_s, "onnx_share": service.onnx_share}
    columns = ("against people", "value", "95% interval", "Kendall")
    # A handful of summaries says nothing about correlation.
    targets = [target for target in TARGETS if not quick or target.key in CERTAIN]
    return Report("judge: without a language model", columns, results.rows, results.figures, targets)


async def _judge_all(models: Path, data: Path, qags: Sequence[HumanRow], run: tuple[Sizes, Results]) -> None:
    sizes, results = run
    async with JudgeRunner(models) as runner:
        await _consistency(runner, sample_rows(qags, sizes.qags), results)
        await _pairs(runner, sample_documents(read_rows(data, "rank19"), sizes.rank19), results)
        coverage = {"litepyramid_recall": MetricName.COVERAGE}
        rows = first_of_each(sample_documents(read_rows(data, "realsumm"), sizes.realsumm), sizes.systems)
        await _within_documents(runner, "realsumm", rows, coverage, results)
        both = {"informativeness": MetricName.COVERAGE, "relevance": MetricName.RELEVANCE}
        rows = sample_documents(read_rows(data, "newsroom_human"), sizes.newsroom)
        await _within_documents(runner, "newsroom", rows, both, results)
        await _attacks(runner, qags, sizes.edits, results)
    items = [(row.source, row.summary) for row in sample_rows(qags, sizes.repeated)]
    identical = await repeats_identically(models, items)
    results.rows.append(["five runs, any order, 1 to 4 at a time: identical", str(identical), "", ""])
    results.figures["repeat_identical"] = identical


async def _consistency(runner: JudgeRunner, rows: Sequence[HumanRow], results: Results) -> None:
    """QAGS-CNN: hallucination against the share of sentences that people found consistent."""
    judgements = await runner.judge_all([(row.source, row.summary) for row in rows], "QAGS-CNN")
    human = [row.scores["consistency"] for row in rows]
    scores = {name.value: _scores(judgements, name, MetricName.HALLUCINATION) for name in Framework}
    scores["summac_zs"] = [await summac_zs(row.source, row.summary, runner.models.entailment) for row in rows]
    scores["rouge2"] = [rouge2(row.summary, [row.source]) for row in rows]
    figures: dict[str, float] = {}
    for name in ("ultra", "judge_lock", "twin_lock", "summac_zs", "rouge2"):
        found = estimate(spearman, scores[name], human)
        tau = kendall(np.array(scores[name]), np.array(human))
        interval = f"[{found.low:.3f}, {found.high:.3f}]"
        results.rows.append([f"QAGS-CNN hallucination, {name}", f"{found.value:.3f}", interval, f"{tau:.3f}"])
        figures[name] = found.value
        results.figures[f"qags_cnndm_kendall_{name}"] = tau
    abstained = sum(not one[Framework.ULTRA][MetricName.HALLUCINATION].counts for one in judgements)
    results.figures |= {
        "qags_cnndm": figures,
        "qags_rows": len(rows),
        "qags_abstained": abstained,
        "qags_ultra": figures["ultra"],
        "ultra_over_judge_lock": figures["ultra"] - figures["judge_lock"],
        "judge_lock_over_summac_zs": figures["judge_lock"] - figures["summac_zs"],
    }


async def _pairs(runner: JudgeRunner, rows: Sequence[HumanRow], results: Results) -> None:
    """rank19: how often the correct one of two sentences has the higher score; a tie is a mistake."""
    if not rows:
        return
    judgements = await runner.judge_all([(row.source, row.summary) for row in rows], "rank19")
    accuracies: dict[str, float] = {}
    for framework in Framework:
        scores = _scores(judgements, framework, MetricName.HALLUCINATION)
        by_document: dict[str, dict[str, float]] = {}
        for row, score in zip(rows, scores, strict=True):
            by_document.setdefault(row.document, {})[row.system] = score
        right = [pair["correct"] > pair["incorrect"] for pair in by_document.values()]
        accuracies[framework.value] = sum(right) / len(right)
        results.rows.append([f"rank19 pairs in order, {framework}", f"{accuracies[framework]:.3f}", "", ""])
    results.figures |= {"rank19_accuracy": accuracies["ultra"], "rank19": accuracies, "rank19_pairs": len(rows) // 2}


async def _within_documents(
    runner: JudgeRunner, name: str, rows: Sequence[HumanRow], metrics: Mapping[str, MetricName], results: Results
) -> None:
    """Sets with several summaries of each document: mean correlation over documents."""
    if not rows:
        results.figures[name] = None
        return
    judgements = await runner.judge_all([(row.source, row.summary) for row in rows], name)
    groups = [row.document for row in rows]
    figures: dict[str, float] = {}
    for dimension, metric in metrics.items():
        human = [row.scores[dimension] for row in rows]
        scores = {framework.value: _scores(judgements, framework, metric) for framework in Framework}
        scores["rouge2"] = [rouge2(row.summary, row.references) for row in rows]
        for judge in ("ultra", "judge_lock", "twin_lock", "rouge2"):
            rho, tau = (within_groups(one, groups, scores[judge], human) for one in (spearman, kendall))
            found = estimate(spearman, scores[judge], human)
            interval = f"pooled {found}"
            results.rows.append([f"{name} {dimension}, {judge}", f"{rho:.3f}", interval, f"{tau:.3f}"])
            figures[f"{dimension}_{judge}" if len(metrics) > 1 else judge] = rho
    results.figures |= {name: figures, f"{name}_rows": len(rows)}


async def _attacks(runner: JudgeRunner, rows: Sequence[HumanRow], count: int, results: Results) -> None:
    """Edited summaries: what is noticed, and what an order to the judge changes."""
    edits = make_edits(rows, count)
    before = await runner.judge_all([(edit.source, edit.original) for edit in edits], "summaries before edits")
    after = await runner.judge_all([(edit.source, edit.edited) for edit in edits], "edited summaries")
    cases = list(zip(edits, before, after, strict=True))
    detected: dict[str, float] = {}
    for framework in Framework:
        noticed = [dropped(*case, framework) for case in cases if case[0].attack in CORRUPTING]
        detected[framework.value] = sum(noticed) / len(noticed)
        results.rows.append([f"corruptions detected, {framework}", f"{detected[framework]:.3f}", "", ""])
    for attack in CORRUPTING:
        noticed = [dropped(*case, Framework.ULTRA) for case in cases if case[0].attack is attack]
        if noticed:
            share = f"{sum(noticed) / len(noticed):.3f}"
            results.rows.append([f"  {attack} ({len(noticed)}), ultra", share, "", ""])
    injected = [case for case in cases if case[0].attack is Attack.INJECTION]
    padded = [case for case in cases if case[0].attack is Attack.PADDING]
    results.figures |= {
        "corruptions_detected": detected["ultra"],
        "corruptions_detected_by": detected,
        "injection_changed": sum(scores_of(old) != scores_of(new) for _, old, new in injected),
        "padding_raised": sum(raised(old, new) for _, old, new in padded),
        "edits": len(edits),
    }
    results.rows.append(
        [f"injections that changed a score, of {len(injected)}", f"{results.figures['injection_changed']}", "", ""]
    )
    results.rows.append(
        [f"paddings that raised a score, of {len(padded)}", f"{results.figures['padding_raised']}", "", ""]
    )


def _scores(judgements: Sequence[Judgement], framework: Framework, metric: MetricName) -> list[float]:
    """Returns the scores, those that were abstained from too; no score counts as the worst."""
    return [judgement[framework][metric].score or 0.0 for judgement in judgements]
