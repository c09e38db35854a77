"""Fits the weights of Ultra's claim support to corrupted sentences, and says how good they are.

    python -m scripts.train_claim_support --data DIR --output pipeline/judge/ultra/claim_support.json

DIR holds realsumm.jsonl and newsroom_human.jsonl. Only their documents are read, and sentences of four summarizers as
examples of faithful rewording: no human score, and nothing of the sets that hallucination is measured on. The evidence
is that of the judge itself, made by the installed models. Takes about ten minutes on two cores.
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
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.ultra.claim_support import signals
from scripts.claim_support.examples import SEED, Example, make_examples
from scripts.claim_support.fit import FittedSupport, Float64, area_under_curve, fit_support
from server.bound_models import BoundEmbedder, BoundEntailment, Terms, TokenOffsets

EXAMPLES = 1500
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
    examples = list(make_examples(arguments.data))
    random.Random(SEED).shuffle(examples)
    kept, names, rows = asyncio.run(_measure(examples[:EXAMPLES], arguments.models))
    faithful = np.array([example.is_faithful for example in kept])
    fitted = fit_support(rows, faithful, regularization=REGULARIZATION, prior=PRIOR)
    text = json.dumps(_record(fitted, names, kept, held_out_area(kept, rows, faithful)), indent=2)
    arguments.output.write_text(text + "\n", encoding="utf-8")
    print(text)


def held_out_area(examples: Sequence[Example], rows: Float64, faithful: npt.NDArray[np.bool_]) -> float:
    """Returns the area under the ROC curve on documents that took no part in a fit of its own."""
    documents = list(dict.fromkeys(example.source for example in examples))
    held_out = {document for index, document in enumerate(documents) if index % _HELD_OUT == 0}
    mask = np.array([example.source in held_out for example in examples])
    fitted = fit_support(rows[~mask], faithful[~mask], regularization=REGULARIZATION, prior=PRIOR)
    return area_under_curve(fitted.probabilities(rows[mask]), faithful[mask])


async def _measure(examples: Sequence[Example], models: Path) -> tuple[list[Example], list[str], Float64]:
    """Returns the examples that are one claim, the names of the signals, and their values by example."""
    tables: dict[int, EvidenceTable] = {}
    async with Engine(InferenceConfig(models_dir=models)) as engine:
        terms = Terms(Call())
        entailment, embedder = BoundEntailment(engine.nli, terms), BoundEmbedder(engine.embedder, terms)
        tokenizer = TokenOffsets(engine.models["embedding"].directory)
        waiting = iter(track(list(enumerate(examples)), description="evidence"))

        async def work() -> None:
            for index, example in waiting:
                tables[index] = await build_evidence(
                    example.source, example.sentence, entailment=entailment, embedder=embedder, tokenizer=tokenizer
                )

        async with asyncio.TaskGroup() as group:
            for _ in range(_IN_FLIGHT):
                group.create_task(work())
    # Of several claims, it is not known which one was corrupted.
    kept = [index for index in range(len(examples)) if len(tables[index].claims) == 1]
    rows = [signals(tables[index].claims[0]) for index in kept]
    return [examples[index] for index in kept], list(rows[0]), np.array([list(row.values()) for row in rows])


def _record(fitted: FittedSupport, names: Sequence[str], examples: Sequence[Example], area: float) -> dict[str, object]:
    faithful = sum(example.is_faithful for example in examples)
    return {
        "intercept": round(fitted.intercept, _DIGITS),
        "weights": {name: round(weight, _DIGITS) for name, weight in zip(names, fitted.weights.tolist(), strict=True)},
        "record": {
            "script": "scripts/train_claim_support.py",
            "documents": "realsumm, newsroom_human",
            "faithful_examples": faithful,
            "corrupted_examples": len(examples) - faithful,
            "regularization": REGULARIZATION,
            "prior": PRIOR,
            "seed": SEED,
            "held_out_area_under_curve": round(area, _DIGITS),
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
