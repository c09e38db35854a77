"""Fits the weights of Ultra's claim support to corrupted sentences and NLI pairs, and says how good they are.

    python -m scripts.train_claim_support --data DIR --output pipeline/judge/ultra/claim_support.json

DIR holds summaries/realsumm.jsonl, summaries/newsroom_human.jsonl and nli/nli_train_pool.jsonl. Of the summaries only
the documents are read, and sentences of four summarizers as examples of faithful rewording: no human score, and nothing
of the sets that hallucination is measured on. The pairs are training pairs. The evidence is that of the judge itself,
made by the installed models. Takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.progress import track

from inference.call import Call
from inference.config import InferenceConfig
from inference.engine import Engine
from pipeline.judge.evidence.build import build_evidence
from pipeline.judge.evidence.draft import EvidenceRequest
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.ultra.claim_support import signals
from scripts.claim_support.examples import SEED, Example, make_examples
from scripts.claim_support.fit import FittedSupport, Float64, Rows, area_under_curve, fit_support
from scripts.claim_support.nli_examples import PARTS, make_nli_examples
from server.rpc.models import CallScope, EngineModels

CORRUPTED = 1500
"""Sentences of documents, as they are or corrupted."""

NLI_WEIGHT = 0.5
"""Of all pairs together, for a weight of 1 of the sentences of documents."""

REGULARIZATION = 0.3
"""Strong on purpose: the corruptions are ours, real ones differ, and correlated signals shall share the weight."""

PRIOR = 0.75
"""Faithful share of the sentences of real summarizers: between three and four fifths in published annotations."""

_HELD_OUT = 5  # every fifth document
_DIGITS = 4
_IN_FLIGHT = 4  # so that both ends of a request leave no core idle


def main() -> None:
    """Fits, writes the weights with their record, and prints them."""
    arguments = _arguments()
    sentences = list(make_examples(arguments.data / "summaries"))
    random.Random(SEED).shuffle(sentences)
    examples = [*sentences[:CORRUPTED], *make_nli_examples(arguments.data / "nli" / "nli_train_pool.jsonl")]
    kept, names, values = asyncio.run(_measure(examples, arguments.models))
    rows = _weighted(kept, values)
    fitted = fit_support(rows, regularization=REGULARIZATION, prior=PRIOR)
    text = json.dumps(_record(fitted, names, kept, held_out_areas(kept, rows)), indent=2)
    arguments.output.write_text(text + "\n", encoding="utf-8")
    print(text)


def held_out_areas(examples: Sequence[Example], rows: Rows) -> tuple[float, float]:
    """Returns areas under the ROC curve on documents and premises that took no part in a fit of their own.

    Of sentences of documents, and of NLI pairs.
    """
    documents = list(dict.fromkeys(example.source for example in examples))
    chosen = {document for index, document in enumerate(documents) if index % _HELD_OUT == 0}
    held_out, is_pair = np.array([example.source in chosen for example in examples]), _are_pairs(examples)
    fitted = fit_support(rows.of(~held_out), regularization=REGULARIZATION, prior=PRIOR)
    measured = [rows.of(held_out & mask) for mask in (~is_pair, is_pair)]
    sentences, pairs = (area_under_curve(fitted.probabilities(one.signals), one.faithful) for one in measured)
    return sentences, pairs


def _weighted(examples: Sequence[Example], values: Float64) -> Rows:
    is_pair = _are_pairs(examples)
    weights = np.where(is_pair, NLI_WEIGHT / is_pair.sum(), 1 / (~is_pair).sum())
    return Rows(values, np.array([example.is_faithful for example in examples]), weights)


def _are_pairs(examples: Sequence[Example]) -> npt.NDArray[np.bool_]:
    return np.array([example.kind in PARTS for example in examples])


async def _measure(examples: Sequence[Example], models_dir: Path) -> tuple[list[Example], list[str], Float64]:
    """Returns the examples that are one claim, the names of the signals, and their values by example."""
    tables: dict[int, EvidenceTable] = {}
    async with Engine(InferenceConfig(models_dir=models_dir)) as engine:
        models = EngineModels(engine).bound(CallScope(Call()))
        waiting = iter(track(list(enumerate(examples)), description="evidence"))

        async def work() -> None:
            for index, example in waiting:
                request = EvidenceRequest(example.source, example.sentence)
                tables[index] = await build_evidence(request, models)

        async with asyncio.TaskGroup() as group:
            for _ in range(_IN_FLIGHT):
                group.create_task(work())
    # Of several claims, it is not known which one was corrupted.
    kept = [index for index in range(len(examples)) if len(tables[index].claims) == 1]
    rows = [signals(tables[index].claims[0]) for index in kept]
    return [examples[index] for index in kept], list(rows[0]), np.array([list(row.values()) for row in rows])


def _record(
    fitted: FittedSupport, names: Sequence[str], examples: Sequence[Example], areas: tuple[float, float]
) -> dict[str, object]:
    sentences = [example for example in examples if example.kind not in PARTS]
    faithful = sum(example.is_faithful for example in sentences)
    return {
        "intercept": round(fitted.intercept, _DIGITS),
        "weights": {name: round(weight, _DIGITS) for name, weight in zip(names, fitted.weights.tolist(), strict=True)},
        "record": {
            "script": "scripts/train_claim_support.py",
            "documents": "realsumm, newsroom_human",
            "nli_parts": ", ".join(PARTS),
            "faithful_examples": faithful,
            "corrupted_examples": len(sentences) - faithful,
            "nli_pairs": len(examples) - len(sentences),
            "nli_weight": NLI_WEIGHT,
            "regularization": REGULARIZATION,
            "prior": PRIOR,
            "seed": SEED,
            "held_out_area_sentences": round(areas[0], _DIGITS),
            "held_out_area_pairs": round(areas[1], _DIGITS),
        },
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the JSONL files")
    parser.add_argument("--models", type=Path, default=Path("models"), help="models folder")
    parser.add_argument("--output", type=Path, required=True, help="file for the weights (.json)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
