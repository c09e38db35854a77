"""Labelled premise and hypothesis pairs."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from inference.models.manifest import NLI_LABELS

SNLI_DEV = Path("nli") / "snli_dev.jsonl"
MNLI_MATCHED = Path("nli") / "mnli_dev_matched.jsonl"
SAMPLE_SEED = 7


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs with the index of their label in NLI_LABELS; parallel lists."""

    pairs: list[tuple[str, str]]
    labels: list[int]

    def sample(self, count: int) -> "LabelledPairs":
        """Takes the same `count` pairs every time, or all when there are fewer."""
        chosen = random.Random(SAMPLE_SEED).sample(range(len(self.pairs)), min(count, len(self.pairs)))
        return LabelledPairs([self.pairs[index] for index in chosen], [self.labels[index] for index in chosen])


def read_pairs(path: Path) -> LabelledPairs:
    """Reads JSON Lines with premise, hypothesis and label; leaves out rows whose label is none of the three."""
    with path.open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["label"] in NLI_LABELS]
    return LabelledPairs(
        [(row["premise"], row["hypothesis"]) for row in rows], [NLI_LABELS.index(row["label"]) for row in rows]
    )
