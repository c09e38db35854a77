"""Sentences that are faithful to their document, and corrupted ones made from them. No human judgement takes part.

Faithful are sentences of the document itself, the same cut short at a clause, and sentences of summarizers that are
known to be faithful nearly always; the last are the ones that rephrase.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.claim_support.corruptions import Corrupter, Document, Edit, sentences_of

SEED = 20260101
PER_DOCUMENT = 9
EDITS = (*(Edit.SPLICE,) * 3, *(Edit.NAME_SWAP,) * 2, Edit.NUMBER_SWAP, Edit.NEGATION, Edit.ROLE_SWAP)
"""As often as each is drawn: spliced sentences are what summarizers get wrong most."""

_EDITED = 2  # corrupted sentences for each faithful one
_FOREIGN_SHARE = 0.1
_FEWEST_WORDS, _MOST_WORDS = 6, 40
_FEWEST_SENTENCES = 4
_FAITHFUL_SYSTEMS = frozenset({"bart_out.txt", "t5_out_11B.txt", "t5_out_large.txt", "semsim_out.txt"})
_CLAUSES = (" because ", " after ", " while ", " when ", " which ", " as ")
_SHORTEST_MAIN_CLAUSE = 35  # characters


@dataclass(frozen=True)
class Example:
    """One sentence.

    Attributes:
        source: the whole document.
        sentence: what is said of it.
        is_faithful: whether the document says that.
        kind: how it was made.
    """

    source: str
    sentence: str
    is_faithful: bool
    kind: str


def make_examples(data: Path) -> tuple[Example, ...]:
    """Makes examples from the documents of REALSumm and Newsroom; the same data give the same examples.

    Args:
        data: folder with realsumm.jsonl and newsroom_human.jsonl; of their rows only `source`, `doc_id` and, as
            faithful sentences, the `summary` of some systems are read, never a score.
    """
    rewordings: dict[str, list[str]] = {}
    for row in [*_rows(data / "realsumm.jsonl"), *_rows(data / "newsroom_human.jsonl")]:
        sentences = rewordings.setdefault(row["source"], [])
        if row["model"] in _FAITHFUL_SYSTEMS:
            sentences += filter(_is_usable, sentences_of(row["summary"]))
    documents = [Document.of(text) for text in rewordings]
    corrupter, rng = Corrupter(documents), random.Random(SEED)
    examples = [
        example
        for document in documents
        for example in _of_document(document, rewordings[document.text], corrupter, rng)
    ]
    return tuple(dict.fromkeys(examples))


def _of_document(
    document: Document, rewordings: Sequence[str], corrupter: Corrupter, rng: random.Random
) -> Iterator[Example]:
    usable = [sentence for sentence in document.sentences if _is_usable(sentence)]
    if len(usable) < _FEWEST_SENTENCES:
        return
    for _ in range(PER_DOCUMENT):
        kind, sentence = _faithful(usable, rewordings, rng)
        yield Example(document.text, sentence, is_faithful=True, kind=kind)
        edits = rng.sample(EDITS, len(EDITS)) if rng.random() >= _FOREIGN_SHARE else [Edit.FOREIGN]
        edited = [(edit, text) for edit in edits if (text := corrupter.apply(edit, sentence, document, rng))]
        for edit, text in edited[:_EDITED]:
            yield Example(document.text, text, is_faithful=False, kind=edit.value)


def _faithful(usable: Sequence[str], rewordings: Sequence[str], rng: random.Random) -> tuple[str, str]:
    draw = rng.random()
    if rewordings and draw < 0.5:  # noqa: PLR2004  # half of them, where there are any
        return "reworded", rng.choice(rewordings)
    sentence = rng.choice(usable)
    if draw < 0.7:  # noqa: PLR2004  # a fifth
        return "copied", sentence
    cut = cut_short(sentence)
    return ("cut", cut) if cut else ("copied", sentence)


def cut_short(sentence: str) -> str | None:
    """Returns what is left without a clause that stands between commas or at the end; None without such a clause."""
    parts = sentence.split(", ")
    if len(parts) == 3:  # noqa: PLR2004  # before, between, after
        return f"{parts[0]} {parts[2]}"
    ends = [end for word in _CLAUSES if (end := sentence.find(word)) > _SHORTEST_MAIN_CLAUSE]
    return f"{sentence[: min(ends)].rstrip(',')}." if ends else None


def _is_usable(sentence: str) -> bool:
    return _FEWEST_WORDS <= len(sentence.split()) <= _MOST_WORDS


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
