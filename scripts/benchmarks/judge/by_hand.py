"""Claims that were written or labelled by hand: held-out minimal pairs, and sentences of small language models."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scripts.benchmarks.judge.development import least_probability
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.claim_training.by_hand import held_out_pairs, pair_figures, read_sentences, sentence_figures
from scripts.claim_training.example import Example
from scripts.claim_training.measure import Claims


async def measure_by_hand(runner: JudgeRunner, most: int, results: Results) -> None:
    """Reports whether the judge refuses changed sentences, accepts true ones, and labels what language models write.

    Args:
        most: claims of each set.
    """
    passages: dict[str, str] = {}
    claims = await _checked(runner, list(held_out_pairs(passages))[:most], passages, "minimal pairs")
    figures = pair_figures(claims)
    for key in ("pairs_in_order", "changes_refused", "true_accepted"):
        results.add(f"{figures['pairs']} minimal pairs: {key.replace('_', ' ')}", figures[key])
    results.figures |= {"pairs_refused": figures["changes_refused"], "pairs": _numbers(figures)}
    claims = await _checked(runner, list(read_sentences(passages))[:most], passages, "sentences of language models")
    figures = sentence_figures(claims)
    for key in ("balanced_accuracy", "best_threshold_gain", "auc", "expected_calibration_error"):
        results.add(f"{figures['sentences']} sentences of language models: {key.replace('_', ' ')}", figures[key])
    results.figures |= {"llm_sentences_bacc": figures["balanced_accuracy"], "llm_sentences": _numbers(figures)}


def _numbers(figures: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if isinstance(value, int | float)}


async def _checked(runner: JudgeRunner, examples: Sequence[Example], texts: Mapping[str, str], name: str) -> Claims:
    checked = await runner.check_claims([(texts[example.document], example.claim) for example in examples], name)
    return Claims(examples, np.array([least_probability(found) for found in checked]))
