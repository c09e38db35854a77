"""Agreement with people: QAGS-CNN, rank19, REALSumm and Newsroom, beside SummaC-ZS, ROUGE-2 and R2p."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pipeline.agreement.bootstrap import Estimate, estimate
from pipeline.agreement.measures import Float64, auc, spearman
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import Framework, MetricName
from scripts.benchmarks.judge.baselines import bigram_share, rouge2, summac_zs
from scripts.benchmarks.judge.data import HumanRow
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner

Correlation = Callable[[Float64, Float64], float]
JUDGES = tuple(framework.value for framework in reversed(Framework))
_FAITHFUL = 1.0  # people found every sentence consistent


async def measure_consistency(runner: JudgeRunner, rows: Sequence[HumanRow], results: Results) -> None:
    """QAGS-CNN: hallucination against the share of sentences that people found consistent; AUC: all of them or not."""
    judgements = await runner.judge_all(_items(rows), "QAGS-CNN")
    scores = {name.value: _scores(judgements, name, MetricName.HALLUCINATION) for name in Framework}
    scores["worst_claim"] = [10.0 if (one := judged.worst_claim_score) is None else one for judged in judgements]
    scores["summac_zs"] = [await summac_zs(*item, runner.models.entailment) for item in _items(rows)]
    scores["rouge2"] = [rouge2(row.summary, [row.source]) for row in rows]
    scores["r2p"] = [bigram_share(*item) for item in _items(rows)]
    correlations, areas = _agreement(scores, [row.scores["consistency"] for row in rows], results)
    results.figures |= {
        "qags_cnndm": correlations,
        "qags_cnndm_auc": areas,
        "qags_rows": len(rows),
        "qags_abstained": sum(not one[Framework.ULTRA][MetricName.HALLUCINATION].counts for one in judgements),
        "qags_ultra": correlations["ultra"],
        "qags_auc_ultra": areas.get("ultra"),
        "ultra_over_judge_lock": correlations["ultra"] - correlations["judge_lock"],
        "judge_lock_over_summac_zs": correlations["judge_lock"] - correlations["summac_zs"],
    }


def _agreement(
    scores: Mapping[str, Sequence[float]], human: Sequence[float], results: Results
) -> tuple[dict[str, float], dict[str, float]]:
    """Adds rows with intervals; returns Spearman's rho and the AUC of every judge. No AUC if all are of one kind."""
    told, good = np.asarray(human, dtype=np.float64), np.asarray(human) >= _FAITHFUL
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in scores.items()}
    correlations = {name: spearman(values, told) for name, values in arrays.items()}
    areas = {name: auc(values, good) for name, values in arrays.items()} if 0 < good.sum() < len(good) else {}
    for name in (*JUDGES, "worst_claim", "summac_zs", "rouge2"):
        tau = kendall(arrays[name], told)
        baseline = f"{correlations['r2p']:.3f}"
        interval = _interval(estimate(spearman, arrays[name], told))
        results.add(f"QAGS-CNN hallucination, {name}", correlations[name], interval, f"{tau:.3f}", baseline)
        results.figures[f"qags_cnndm_kendall_{name}"] = tau
        if name in areas:
            interval = _interval(estimate(auc, arrays[name], good))
            results.add(f"  AUC, {name}", areas[name], interval, "", f"{areas['r2p']:.3f}")
    return correlations, areas


def _interval(found: Estimate) -> str:
    return f"[{found.low:.2f}, {found.high:.2f}]"


async def measure_pairs(runner: JudgeRunner, rows: Sequence[HumanRow], results: Results) -> None:
    """rank19: how often the correct one of two sentences has the higher score; a tie is a mistake."""
    if not rows:
        return
    judgements = await runner.judge_all(_items(rows), "rank19")
    baseline = _in_order(rows, [bigram_share(*item) for item in _items(rows)])
    accuracies: dict[str, float] = {}
    for name in JUDGES:
        accuracies[name] = _in_order(rows, _scores(judgements, Framework(name), MetricName.HALLUCINATION))
        results.add(f"rank19 pairs in order, {name}", accuracies[name], "", "", f"{baseline:.3f}")
    results.figures |= {
        "rank19_accuracy": accuracies["ultra"],
        "rank19": {**accuracies, "r2p": baseline},
        "rank19_pairs": len(rows) // 2,
    }


async def measure_within_documents(
    runner: JudgeRunner, name: str, rows: Sequence[HumanRow], metrics: Mapping[str, MetricName], results: Results
) -> None:
    """Sets with several summaries of each document: mean correlation over documents, interval of the pooled one."""
    if not rows:
        results.figures[name] = None
        return
    judgements = await runner.judge_all(_items(rows), name)
    groups = [row.document for row in rows]
    r2p = [bigram_share(*item) for item in _items(rows)]
    figures: dict[str, float] = {}
    for dimension, metric in metrics.items():
        human = [row.scores[dimension] for row in rows]
        scores = {framework.value: _scores(judgements, framework, metric) for framework in Framework}
        scores["rouge2"] = [rouge2(row.summary, row.references) for row in rows]
        baseline = within_groups(spearman, groups, r2p, human)
        for judge in (*JUDGES, "rouge2"):
            rho, tau = (within_groups(one, groups, scores[judge], human) for one in (spearman, kendall))
            pooled = f"pooled {estimate(spearman, scores[judge], human)}"
            results.add(f"{name} {dimension}, {judge}", rho, pooled, f"{tau:.3f}", f"{baseline:.3f}")
            figures[f"{dimension}_{judge}" if len(metrics) > 1 else judge] = rho
    results.figures |= {name: figures, f"{name}_rows": len(rows)}


def _in_order(rows: Sequence[HumanRow], scores: Sequence[float]) -> float:
    """Returns the share of documents whose correct sentence scores higher."""
    by_document: dict[str, dict[str, float]] = {}
    for row, score in zip(rows, scores, strict=True):
        by_document.setdefault(row.document, {})[row.system] = score
    right = [found["correct"] > found["incorrect"] for found in by_document.values()]
    return sum(right) / len(right)


def _items(rows: Sequence[HumanRow]) -> list[tuple[str, str]]:
    return [(row.source, row.summary) for row in rows]


def _scores(judgements: Sequence[Judgement], framework: Framework, metric: MetricName) -> list[float]:
    """Returns the scores, those that were abstained from too; no score counts as the worst."""
    return [judgement[framework][metric].score or 0.0 for judgement in judgements]


def kendall(first: Float64, second: Float64) -> float:
    """Returns Kendall's tau-b; 0 where either side has no variance. Quadratic in time and memory."""
    upper = np.triu_indices(len(first), 1)
    one = np.sign(first[:, None] - first[None, :])[upper]
    other = np.sign(second[:, None] - second[None, :])[upper]
    scale = float(np.sqrt((one != 0).sum() * (other != 0).sum()))
    return float((one * other).sum()) / scale if scale else 0.0


def within_groups(
    correlation: Callable[[Float64, Float64], float],
    groups: Sequence[str],
    scores: Sequence[float],
    human: Sequence[float],
) -> float:
    """Returns the mean correlation over groups, as REALSumm does over documents ("summary level").

    Groups in which the humans saw no difference are left out: no score could correlate there. 0 without groups.
    """
    names, first, second = np.asarray(groups), np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    members = [names == name for name in dict.fromkeys(groups)]
    values = [correlation(first[mask], second[mask]) for mask in members if np.ptp(second[mask]) > 0]
    return float(np.mean(values)) if values else 0.0
