"""Claims of documents that no training saw, judged as the product judges them, beside the record of the training.

A row is supported when all of it is, so its probability is that of the least supported of its claims.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from inference.compile.install import HEADS_DIR
from pipeline.agreement.bootstrap import estimate
from pipeline.agreement.measures import auc, spearman
from pipeline.judge.evidence.table import Claim
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import Framework, MetricName
from scripts.benchmarks.judge.baselines import bigram_share
from scripts.benchmarks.judge.cascade import measure_cascade
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.claim_training.example import ENTAILMENT, Example, digest_of, is_development
from scripts.claim_training.examples import examples_of, read_documents
from scripts.claim_training.measure import (
    EVEN,
    Claims,
    balanced_accuracy,
    confidence_correlation,
    confident_half_gain,
    expected_calibration_error,
    threshold_gap,
    true_negative_rates,
)

POOL = Path("claims") / "claims.jsonl.gz"
RECORD = HEADS_DIR / "nli-deberta-v3-xsmall-claims.json"
ABSTRACTIVE = ("defacto", "pubmedqa")
"""Sources whose supported texts are whole summaries in words of their own: human corrections, conclusions."""

_EVEN = 5.0  # of 10
_LENGTHS = (700, 2000)  # words
_SUPPORTED = 1.0  # of a text that claims nothing

Row = tuple[str, Example]
"""A document and an example of it."""


def read_development(data: Path, each: int) -> list[Row]:
    """Returns the examples of development documents, in an order that has nothing to do with the file's.

    Args:
        data: folder of labelled data.
        each: supported and unsupported claims of a source that suffice, so that no more documents are read.
    """
    path = data / POOL
    if not path.is_file():
        return []
    documents = {digest_of(text): (text, rows) for text, rows in read_documents(path).items()}
    seen: Counter[tuple[object, object]] = Counter()
    examples: list[Row] = []
    for text, rows in (documents[digest] for digest in sorted(documents) if is_development(digest)):
        source = rows[0]["source"]
        if min(seen[source, 0], seen[source, 1]) < each:
            seen.update((source, row["label"]) for row in rows)
            examples += [(text, example) for example in examples_of(text, rows)]
    return examples


def sample_claims(rows: Sequence[Row], each: int) -> list[Row]:
    """Returns people's claims, at most so many of each source, half of them supported where there are as many."""
    kept: list[Row] = []
    for source in sorted({example.source for _, example in rows}):
        plain = [row for row in rows if row[1].source == source and not row[1].edit]
        for is_supported in (True, False):
            kept += _first(row for row in plain if (row[1].label == ENTAILMENT) is is_supported)[: each // 2]
    return kept


def sample_faithful(rows: Sequence[Row], each: int) -> list[tuple[Row, Row]]:
    """Returns faithful abstractive texts with a corruption of each, at most so many of each source."""
    false_of = {
        example.group: (text, example) for text, example in rows if example.edit and example.label != ENTAILMENT
    }
    pairs: list[tuple[Row, Row]] = []
    for source in ABSTRACTIVE:
        own = (row for row in rows if row[1].source == source and row[1].label == ENTAILMENT and not row[1].edit)
        pairs += [(row, false_of[row[1].group]) for row in _first(own) if row[1].group in false_of][:each]
    return pairs


def _first(rows: Iterator[Row]) -> list[Row]:
    """Orders rows by a hash of their claim: the same rows come first whatever there is besides."""
    return sorted(rows, key=lambda row: hashlib.sha256(row[1].claim.encode()).digest())


def read_record() -> Mapping[str, object]:
    """Returns what scripts/train_claims.py wrote of the model; empty before the first training."""
    record: Mapping[str, object] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    return record


async def measure_development(runner: JudgeRunner, rows: Sequence[Row], results: Results) -> None:
    """How well probabilities of claims tell supported from unsupported, and what they are worth."""
    checked = await runner.check_claims([(text, example.claim) for text, example in rows], "development claims")
    claims = Claims([example for _, example in rows], np.array([least_probability(found) for found in checked]))
    r2p = Claims(claims.examples, np.array([bigram_share(text, example.claim) for text, example in rows]))
    accuracies, gaps, areas = _by_source(claims, r2p, results)
    mean, baseline = float(np.mean(list(accuracies.values()))), _mean_accuracy(r2p, _best_threshold(r2p))
    results.add("development claims, balanced accuracy at .5, mean of sources", mean, "", "", f"{baseline:.3f}")
    whole, of_r2p = (estimate(auc, one.probabilities, one.supported) for one in (claims, r2p))
    interval = f"[{whole.low:.2f}, {whole.high:.2f}]"
    results.add(f"  AUC of all {len(rows)}", whole.value, interval, "", f"{of_r2p.value:.3f}")
    rates = true_negative_rates(claims, [len(text.split()) for text, _ in rows])
    for name, rate in rates.items():
        results.add(f"  unsupported claims found, sources {name}", rate)
    lengthened = {0: claims, **{words: await _judge_lengthened(runner, rows, words) for words in _LENGTHS}}
    found = {words: balanced_accuracy(one.of(~one.supported)) for words, one in lengthened.items()}
    for words, rate in found.items():
        beside = f"balanced accuracy {_mean_accuracy(lengthened[words], EVEN):.3f}"
        among = f"each source among others, {words} words" if words else "sources as they are"
        results.add(f"  unsupported claims found, {among}", rate, beside)
    measure_cascade(claims, [text for text, _ in rows], results)
    worth = {
        "claims_ece": expected_calibration_error(claims),
        "claims_confident_half_gain": confident_half_gain(claims),
        "claims_confidence_correlation": confidence_correlation(claims),
    }
    for name, value in worth.items():
        results.add(f"  {name.removeprefix('claims_').replace('_', ' ')}", value)
    results.figures |= {
        "claims_dev_bacc": mean,
        "claims_dev_rows": len(rows),
        "claims_dev_auc": whole.value,
        "claims_bacc_by_source": accuracies,
        "claims_auc_by_source": areas,
        "claims_threshold_gap_by_source": gaps,
        "claims_true_negative_rates": rates,
        "claims_true_negative_spread": max(rates.values()) - min(rates.values()) if rates else None,
        "claims_lengthened_true_negative_rates": {str(words): rate for words, rate in found.items()},
        "claims_lengthened_spread": max(found.values()) - min(found.values()),
        **worth,
    }


async def _judge_lengthened(runner: JudgeRunner, rows: Sequence[Row], words: int) -> Claims:
    longer = [(text, example.claim) for text, example in lengthen(rows, words)]
    checked = await runner.check_claims(longer, f"development claims, {words} words")
    return Claims([example for _, example in rows], np.array([least_probability(found) for found in checked]))


def lengthen(rows: Sequence[Row], words: int) -> list[Row]:
    """Returns the rows with each document in the midst of others, until it has so many words or has all of them.

    The claims stay what they are: only so they show whether a judge is more lenient of long sources. Claims about long
    documents are of other kinds than claims about short ones.
    """
    documents = sorted({text for text, _ in rows}, key=digest_of)
    place = {text: at for at, text in enumerate(documents)}
    longer: list[Row] = []
    for text, example in rows:
        others, count = list[str](), len(text.split())
        for step in range(1, len(documents)):
            if count >= words:
                break
            others.append(documents[(place[text] + step) % len(documents)])
            count += len(others[-1].split())
        half = len(others) // 2
        longer.append(("\n\n".join([*others[:half], text, *others[half:]]), example))
    return longer


def _by_source(
    claims: Claims, r2p: Claims, results: Results
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Adds a row for each source: balanced accuracy, what the best threshold would gain, and the AUC."""
    accuracies: dict[str, float] = {}
    gaps: dict[str, float] = {}
    areas: dict[str, float] = {}
    baselines, threshold = r2p.by_source(), _best_threshold(r2p)
    for source, own in claims.by_source().items():
        accuracies[source] = balanced_accuracy(own)
        beside = []
        if (gap := threshold_gap(own)) is not None:
            gaps[source] = gap
            beside.append(f"best +{gap:.3f}")
        if 0 < own.supported.sum() < len(own.examples):
            areas[source] = auc(own.probabilities, own.supported)
            beside.append(f"AUC {areas[source]:.3f}")
        baseline = f"{balanced_accuracy(baselines[source], threshold):.3f}"
        results.add(f"  {source} ({len(own.examples)})", accuracies[source], ", ".join(beside), "", baseline)
    return accuracies, gaps, areas


def _best_threshold(claims: Claims) -> float:
    """Returns the one threshold that suits all sources best: a baseline has none of its own."""
    thresholds = np.quantile(claims.probabilities, np.linspace(0, 1, 101)).tolist()
    best: float = max(thresholds, key=lambda at: _mean_accuracy(claims, at))
    return best


def _mean_accuracy(claims: Claims, threshold: float) -> float:
    return float(np.mean([balanced_accuracy(one, threshold) for one in claims.by_source().values()]))


def least_probability(claims: Sequence[Claim]) -> float:
    """Returns the probability of the least probable claim; 1 where nothing is claimed."""
    return min((claim.probability for claim in claims), default=_SUPPORTED)


async def measure_calibration(runner: JudgeRunner, pairs: Sequence[tuple[Row, Row]], results: Results) -> None:
    """Whether 5 of 10 parts faithful abstractive texts from corruptions of them, and whether confidence knows."""
    rows = [row for pair in pairs for row in pair]
    judged = await runner.judge_all([(text, example.claim) for text, example in rows], "faithful and corrupted texts")
    faithful = np.array([example.label == ENTAILMENT for _, example in rows])
    hallucination = np.array([_score(one) for one in judged])
    worst = np.array([10.0 if (score := one.worst_claim_score) is None else score for one in judged])
    for name, scores in {"": hallucination, "_worst_claim": worst}.items():
        shares = {"faithful_above_5": scores[faithful] > _EVEN, "corrupted_below_5": scores[~faithful] < _EVEN}
        for key, share in shares.items():
            results.figures[key + name] = float(share.mean())
            results.add(f"{(key + name).replace('_', ' ')}, {len(pairs)} texts", float(share.mean()))
    confidence = np.array([one[Framework.ULTRA][MetricName.HALLUCINATION].confidence or 0.0 for one in judged])
    correlation = spearman(confidence, ((hallucination > _EVEN) == faithful).astype(np.float64))
    results.add("  rank correlation of Ultra's confidence and being right", correlation)
    results.figures |= {"calibration_texts": len(rows), "ultra_confidence_correlation": correlation}


def _score(judgement: Judgement) -> float:
    return judgement[Framework.ULTRA][MetricName.HALLUCINATION].score or 0.0


def add_record(record: Mapping[str, object], results: Results) -> None:
    """Adds what the training measured: on more claims, with weights that were fitted to other sources."""
    development = record.get("development")
    own = development.get("balanced_accuracy") if isinstance(development, Mapping) else None
    left_out = record.get("leave_one_source_out")
    loso = float(np.mean(list(left_out.values()))) if isinstance(left_out, Mapping) and left_out else None
    measured = record.get("measured")
    nli = {key: value["accuracy"] for key, value in measured.items()} if isinstance(measured, Mapping) else {}
    for name, value in {"development claims": own, "sources left out of the training": loso}.items():
        results.add(f"record of the training: {name}", value if isinstance(value, float) else "none")
    for name, value in nli.items():
        results.add(f"record of the training: {name.replace('_', ' ')}", value)
    results.figures |= {"claims_record_bacc": own, "claims_loso_bacc": loso, "claims_record_nli": nli or None}
