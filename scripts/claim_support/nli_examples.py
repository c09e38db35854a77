"""Published NLI pairs as examples: what rephrases its source, whether it is faithful or not.

Corrupted sentences are worded like their document, and so are most faithful ones: fitted to them alone, words in common
would decide about abstractive summaries too. Every second premise is hidden among other premises of its collection,
which say nothing of its hypothesis: a source is longer than what entails a claim.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.claim_support.examples import SEED, Example

PARTS = {
    "mnli_train_20k": 480,  # MultiNLI (OANC, CC)
    "snli_train_small": 200,  # CC BY-SA 4.0
    "cad_revised_hypothesis_train": 200,  # Apache-2.0
    "conjnli_adv_train": 200,  # MIT
}
"""Parts of the pool whose licence allows it, with the pairs that are drawn from each."""

_FEWEST_WORDS = 6  # of a hypothesis
_OTHERS = 12  # premises around a hidden one
_SENTENCE_END = (".", "!", "?")


def make_nli_examples(pool: Path) -> tuple[Example, ...]:
    """Draws pairs; the same file gives the same examples.

    Args:
        pool: nli_train_pool.jsonl, with premise, hypothesis, label and source in each row. Training pairs only.
    """
    by_part: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for line in pool.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["source"] in PARTS and len(row["hypothesis"].split()) >= _FEWEST_WORDS:
            by_part[row["source"]].append(row)
    rng = random.Random(SEED)
    return tuple(example for part, count in PARTS.items() for example in _of_part(by_part[part], count, rng))


def _of_part(rows: Sequence[dict[str, str]], count: int, rng: random.Random) -> Iterable[Example]:
    for position, row in enumerate(rng.sample(rows, min(count, len(rows)))):
        source = row["premise"]
        if position % 2:
            source = hide(source, [other["premise"] for other in rng.sample(rows, _OTHERS)], rng.randrange(_OTHERS + 1))
        yield Example(source, row["hypothesis"], is_faithful=row["label"] == "entailment", kind=row["source"])


def hide(premise: str, others: Sequence[str], place: int) -> str:
    """Returns a text of all premises, each ended as a sentence."""
    sentences = [*others[:place], premise, *others[place:]]
    return " ".join(text if text.endswith(_SENTENCE_END) else f"{text}." for text in map(str.strip, sentences))
