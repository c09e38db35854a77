"""Benchmark: the judge against human judgements, claims of documents that no training saw, attacks, and load.

Without a language model. No weight was fitted to any of the human judgements. Correlations are Spearman's unless said
otherwise; REALSumm and Newsroom within documents, as their authors do it. The share of copied bigrams (R2p) stands
beside every figure of agreement.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.judge.result import MetricName
from pipeline.reading.rules import without as switched_off
from scripts.benchmarks.judge.adversarial import measure_corruptions
from scripts.benchmarks.judge.attacks import measure_attacks
from scripts.benchmarks.judge.by_hand import measure_by_hand
from scripts.benchmarks.judge.covered import measure_covered
from scripts.benchmarks.judge.data import HumanRow, first_of_each, read_rows, sample_documents, sample_rows
from scripts.benchmarks.judge.development import (
    add_record,
    measure_calibration,
    measure_development,
    read_development,
    read_record,
    sample_claims,
    sample_faithful,
)
from scripts.benchmarks.judge.invented import INVENTED, measure_invented
from scripts.benchmarks.judge.non_claims import measure_non_claims
from scripts.benchmarks.judge.paraphrased import measure_paraphrased
from scripts.benchmarks.judge.people import measure_consistency, measure_pairs, measure_within_documents
from scripts.benchmarks.judge.quantities import measure_quantities
from scripts.benchmarks.judge.results import COLUMNS, Results
from scripts.benchmarks.judge.runner import JudgeRunner, open_runner, repeats_identically
from scripts.benchmarks.judge.service import measure_service
from scripts.benchmarks.judge.speed import measure_speed
from scripts.benchmarks.judge.upper_scale import measure_upper_scale
from scripts.benchmarks.shared.report import Report, Target

TARGETS = (
    Target("invented_found", len(INVENTED)),
    Target("invented_listed", len(INVENTED)),
    Target("invented_scores_fall", 1),
    Target("invented_all_read", 1),
    Target("bound_is_said", 1),
    Target("quantities_right", 1),
    Target("non_claims_judged", 0, at_least=False),
    Target("llm_sentences_bacc", 0.72),
    Target("pairs_refused", 0.75),
    Target("qags_ultra", 0.75),
    Target("qags_auc_ultra", 0.9),
    Target("rank19_accuracy", 0.9),
    Target("ultra_over_judge_lock", 0.0),
    Target("judge_lock_over_summac_zs", 0.0),
    Target("claims_dev_bacc", 0.8),
    Target("claims_loso_bacc", 0.72),
    Target("claims_threshold_gap_by_source", 0.03, at_least=False),
    Target("claims_confident_half_gain", 0.1),
    Target("claims_confidence_correlation", 0.3),
    Target("claims_ece", 0.05, at_least=False),
    Target("claims_true_negative_spread", 0.05, at_least=False),
    Target("claims_lengthened_spread", 0.05, at_least=False),
    Target("cascade_bacc", 0.87),
    Target("faithful_above_5", 0.85),
    Target("corrupted_below_5", 0.85),
    Target("corruptions_detected", 0.9),
    Target("judge_lock_above_7_references", 1 / 3),
    Target("judge_lock_above_7_half", 1 / 3),
    Target("judge_lock_above_7_spoiled", 0, at_least=False),
    Target("fully_not_entailed", 0.15, at_least=False),
    Target("vague_wins", 0, at_least=False),
    Target("paraphrased_above_wrong_hallucination", 0.9),
    Target("injections_raised", 0, at_least=False),
    Target("padding_raised", 0, at_least=False),
    Target("repeats_raised", 0, at_least=False),
    Target("repeat_identical", 1),
    Target("judge_cost", 16, at_least=False),
    Target("judge_cpu_ms", 400, at_least=False),
    Target("judge_p50_ms", 250, at_least=False),
    Target("claims_per_s", 40),
    Target("long_cpu_s", 15, at_least=False),
    Target("long_all_read", 1),
    Target("onnx_share", 0.9),
)
UNCERTAIN = (
    "qags_",
    "rank19_",
    "ultra_over",
    "claims_",
    "cascade_",
    "faithful_",
    "corrupted_",
    "corruptions_",
    "judge_lock_",
    "fully_",
    "vague_",
    "llm_sentences_",
    "pairs_",
)
"""Figures that a handful of texts says nothing about begin with these; of claims per second it does."""


@dataclass(frozen=True)
class Sizes:
    """How much is judged."""

    foreign: tuple[int, ...]  # sentences in the long summary
    qags: int
    rank19: int  # pairs
    realsumm: int  # documents
    systems: int  # summaries of each of them; there are 24
    newsroom: int  # documents of 7 summaries
    claims: int  # of each source of the pool
    faithful: int  # of each abstractive source
    by_hand: int  # minimal pairs, and sentences of language models, at most
    edits: int
    complete: int  # documents whose summaries ought to get more than 7
    covered: int  # summaries of each of three sets
    attacks: int  # of each kind
    attacked: int  # summaries
    repeated: int
    served: int


FULL = Sizes(
    foreign=(24, 60),
    qags=235, rank19=373, realsumm=12, systems=24, newsroom=60, claims=60, faithful=40, edits=200, complete=40,
    by_hand=5000, covered=20, attacks=6, attacked=12, repeated=10, served=40,
)  # fmt: skip
QUICK = Sizes(
    foreign=(24,),
    qags=6, rank19=12, realsumm=1, systems=3, newsroom=1, claims=8, faithful=3, edits=8, complete=1, covered=2,
    by_hand=40, attacks=1, attacked=2, repeated=1, served=3,
)  # fmt: skip


def run(models: Path, data: Path, *, quick: bool, without: Sequence[str] = ()) -> Report:
    """Judges every data set that is present.

    Args:
        models: folder of the models.
        data: folder of the data sets.
        quick: a sample of each.
        without: rules to switch off; the report then has a column with and one without them.

    Raises:
        RuntimeError: there is no data set.
        ValueError: a rule is unknown.
    """
    qags = read_rows(data, "qags_cnndm")
    if not qags:
        raise RuntimeError(f"no {data}/summaries/qags_cnndm.jsonl; name a data folder with --data")
    sizes, results = QUICK if quick else FULL, Results()
    if without:
        return _compare(models, data, qags, sizes, without)
    asyncio.run(_judge_all(models, data, qags, (sizes, results)))
    rows = read_rows(data, "realsumm") or qags
    measure_speed(models, data, rows, sizes.served, results)
    measure_service(models, rows, sizes.served, results)
    targets = [target for target in TARGETS if not quick or _is_certain(target.key)]
    return Report("judge: without a language model", COLUMNS, results.rows, results.figures, targets)


def _compare(models: Path, data: Path, qags: Sequence[HumanRow], sizes: Sizes, without: Sequence[str]) -> Report:
    """Returns every figure of agreement, claims and attacks, with all rules and without some."""
    whole, reduced = Results(), Results()
    asyncio.run(_judge_all(models, data, qags, (sizes, whole)))
    with switched_off(without):
        asyncio.run(_judge_all(models, data, qags, (sizes, reduced)))
    rows = [(key, _shown(value), _shown(reduced.figures.get(key))) for key, value in whole.figures.items()]
    figures = {f"{key}_without": value for key, value in reduced.figures.items()}
    title = f"judge: with and without {', '.join(without)}"
    return Report(title, ("figure", "with", "without"), rows, {**whole.figures, **figures})


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _is_certain(key: str) -> bool:
    return key == "claims_per_s" or not key.startswith(UNCERTAIN)


async def _judge_all(models: Path, data: Path, qags: Sequence[HumanRow], run: tuple[Sizes, Results]) -> None:
    sizes, results = run
    async with open_runner(models) as runner:
        await measure_invented(runner, qags, sizes.foreign, results)
        await measure_quantities(runner, results)
        await measure_non_claims(runner, results)
        await measure_paraphrased(runner, results)
        await measure_by_hand(runner, sizes.by_hand, results)
        await _agree(runner, data, qags, run)
        await _develop(runner, data, run)
        await measure_corruptions(runner, qags, sizes.edits, results)
        await measure_upper_scale(runner, read_rows(data, "realsumm"), sizes.complete, results)
        await _cover(runner, data, qags, run)
        await measure_attacks(runner, sample_rows(qags, sizes.attacked), sizes.attacks, results)
    items = [(row.source, row.summary) for row in sample_rows(qags, 2 * sizes.repeated)]
    async with open_runner(models, remembers=False) as runner:
        identical = await repeats_identically(runner, items[::2], items[1::2])
    results.add("five runs, any order, any neighbours, 1 to 8 at a time: identical", str(identical))
    results.figures["repeat_identical"] = identical


async def _cover(runner: JudgeRunner, data: Path, qags: Sequence[HumanRow], run: tuple[Sizes, Results]) -> None:
    """What a covered key point stands for."""
    sizes, results = run
    articles = sample_documents([row for row in read_rows(data, "realsumm") if row.references], sizes.covered)
    golden = [replace(row, summary=row.references[0]) for row in first_of_each(articles, 1)]
    newsroom = sample_rows(read_rows(data, "newsroom_human"), sizes.covered)
    await measure_covered(runner, [*sample_rows(qags, sizes.covered), *golden, *newsroom], articles, results)


async def _agree(runner: JudgeRunner, data: Path, qags: Sequence[HumanRow], run: tuple[Sizes, Results]) -> None:
    """Agreement with people."""
    sizes, results = run
    await measure_consistency(runner, sample_rows(qags, sizes.qags), results)
    await measure_pairs(runner, sample_documents(read_rows(data, "rank19"), sizes.rank19), results)
    coverage = {"litepyramid_recall": MetricName.COVERAGE}
    rows = first_of_each(sample_documents(read_rows(data, "realsumm"), sizes.realsumm), sizes.systems)
    await measure_within_documents(runner, "realsumm", rows, coverage, results)
    both = {"informativeness": MetricName.COVERAGE, "relevance": MetricName.RELEVANCE}
    rows = sample_documents(read_rows(data, "newsroom_human"), sizes.newsroom)
    await measure_within_documents(runner, "newsroom", rows, both, results)


async def _develop(runner: JudgeRunner, data: Path, run: tuple[Sizes, Results]) -> None:
    """Claims of development documents, where there is a pool, and the record of the training."""
    sizes, results = run
    if rows := read_development(data, max(sizes.claims // 2, sizes.faithful)):
        await measure_development(runner, sample_claims(rows, sizes.claims), results)
        await measure_calibration(runner, sample_faithful(rows, sizes.faithful), results)
    add_record(read_record(), results)
