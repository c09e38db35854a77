"""Claims against passages, as the judge reads them: the pool, edits of its supported claims, and NLI as replay.

Every premise is what `PassageFinder` gives for the claim: the model is trained on what it will be asked. A tenth of the
documents of each source is kept for development, whole.
"""

import gzip
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from pipeline.reading.document import ReadText
from pipeline.reading.passages import PassageFinder, claim_weights
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import MAX_SENTENCE_CHARS, PASSAGE_CHARS, SHORT_PASSAGE_CHARS
from scripts.claim_training.edits import Edit, Editor
from scripts.claim_training.example import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NOT_SUPPORTED,
    Example,
    Spans,
    digest_of,
)
from scripts.claim_training.joining import joined_pairs

_SEED = 20261122


class PoolDocument:
    """A document, and the passages of it that the judge reads beside a claim."""

    def __init__(self, text: str) -> None:
        """Reads it."""
        self.text = text
        self.digest = digest_of(text)
        self._source = ReadText.of("source", text, MAX_SENTENCE_CHARS)
        self._finder = PassageFinder(self._source, PASSAGE_CHARS)

    @property
    def sentences(self) -> list[str]:
        """Returns its sentences."""
        return [passage.text for passage in self._source.passages]

    def passage(self, claim: str) -> str:
        """Returns the long passage beside a claim; empty where nothing of the document is near it."""
        found = self.passages(claim)
        return found[0] if found else ""

    def passages(self, claim: str) -> list[str]:
        """Returns what the judge reads beside a claim: a long passage, and a short one where it is another."""
        table = WordTable.of(claim)
        weights = claim_weights(table, range(len(table)), self._finder.index)
        return [passage.span.text for passage in self._finder.for_claim(weights, SHORT_PASSAGE_CHARS)]


def read_documents(path: Path) -> dict[str, list[dict[str, object]]]:
    """Returns the rows of the pool by the text of their document, in the order of the file."""
    rows_of: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            rows_of[row["document"]].append(row)
    return rows_of


def read_claims(
    path: Path, documents: dict[str, str], *, wanted: Callable[[str], bool] | None = None
) -> Iterator[Example]:
    """Yields the pool, each followed by edits of it when it is supported; the same file gives the same examples.

    Args:
        documents: is filled with the text of every wanted document, by digest.
        wanted: tells by its digest whether the examples of a document are asked for; all are without it.
    """
    for text, rows in read_documents(path).items():
        digest = digest_of(text)
        if wanted is None or wanted(digest):
            documents[digest] = text
            yield from map(_cased, examples_of(text, rows))


def _cased(example: Example) -> Example:
    """Writes the claims of some groups in small letters, as some summaries are written."""
    drawn = int(digest_of(f"{example.source} {example.group}")[:8], 16) / 16**8
    is_small = drawn < _SMALL_LETTERS_SHARE and not example.is_development
    return replace(example, claim=example.claim.lower()) if is_small else example


def examples_of(text: str, rows: Sequence[Mapping[str, object]]) -> Iterator[Example]:
    """Yields the examples of one document."""
    document = PoolDocument(text)
    claims = list(_of_bump(rows)) if rows[0]["source"] == "bump" else [_of_row(row) for row in rows]
    if rows[0]["source"] == "defacto":
        claims = list(_with_differences(claims))
    rng = random.Random(f"{_SEED} {document.digest}")
    editor = Editor(document.text, document.sentences, [example.claim for example in claims], rng)
    source, made = str(rows[0]["source"]), []
    for claim in claims:
        example = replace(claim, document=document.digest, premise=document.passage(claim.claim))
        made.append(example)
        if example.label == ENTAILMENT and source not in _NOT_EDITED:
            made += _edited(example, editor, document)
    if source not in _NOT_COPIED:
        made += _copied(source, editor, document, rng)
    yield from made
    if source not in _NOT_EDITED:
        yield from joined_pairs(made, document.passage, rng)


def _copied(source: str, editor: Editor, document: PoolDocument, rng: random.Random) -> Iterator[Example]:
    """Yields some sentences of the document itself, and edits of them."""
    usable = [text for text in document.sentences if 7 < len(text.split()) < 40]  # noqa: PLR2004  # words of a claim
    for number, claim in enumerate(rng.sample(usable, min(_MOST_COPIES, len(usable) // _SENTENCES_FOR_COPY))):
        group = f"{document.digest} copy {number}"
        copy = Example(source, document.digest, document.passage(claim), claim, ENTAILMENT, group, (), "copied")
        yield copy
        yield from _edited(copy, editor, document)


_SMALL_LETTERS_SHARE = 0.15
_NOT_COPIED = frozenset({"fever_nli", "fever_symmetric", "mctest_nli"})
_MOST_COPIES, _SENTENCES_FOR_COPY = 3, 4
_NOT_EDITED = frozenset({"mctest_nli", "bump"})


def _of_row(row: Mapping[str, object]) -> Example:
    label = ENTAILMENT if row["label"] else CONTRADICTION if row["kind"] == "refuted" else NOT_SUPPORTED
    spans = row.get("unsupported_spans")
    marked = tuple((start, end) for start, end in spans) if isinstance(spans, list) else () if row["label"] else None
    claim, group = str(row["claim"]), str(row.get("pair") or row["id"])
    return Example(str(row["source"]), "", "", claim, label, group, marked)


def _edited(example: Example, editor: Editor, document: PoolDocument) -> Iterator[Example]:
    """Yields up to two false variants and sometimes a shorter true one."""
    for edit, claim in editor.variants(example.claim):
        label = ENTAILMENT if edit is Edit.SHORTENED else NOT_SUPPORTED
        spans = () if label == ENTAILMENT else changed_spans(example.claim, claim)
        yield replace(example, claim=claim, label=label, spans=spans, edit=edit.value, premise=document.passage(claim))


def _of_bump(rows: Sequence[Mapping[str, object]]) -> Iterator[Example]:
    """BUMP edits one sentence of a summary: that one is false, and as it was, true."""
    by_pair: defaultdict[object, list[Mapping[str, object]]] = defaultdict(list)
    for row in rows:
        by_pair[row["pair"]].append(row)
    for pair, variants in by_pair.items():
        true = [row for row in variants if row["label"]]
        if not true:
            continue
        originals = _bump_sentences(str(true[0]["claim"]))
        for row in variants:
            sentences = _bump_sentences(str(row["claim"]))
            changed = [sentence for sentence in sentences if sentence not in originals]
            if row["label"] or len(changed) != 1 or len(sentences) != len(originals):
                continue
            original = originals[sentences.index(changed[0])]
            group = f"{pair} {hashlib.sha256(original.encode()).hexdigest()[:8]}"
            yield Example("bump", "", "", changed[0], NOT_SUPPORTED, group, changed_spans(original, changed[0]))
            yield Example("bump", "", "", original, ENTAILMENT, group, ())


def _bump_sentences(summary: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"(?<=[.!?])\s+", summary.replace(" .", ".")) if part.strip()]


def _with_differences(examples: Sequence[Example]) -> Iterator[Example]:
    """A model's summary and its human correction: what the correction changed was not supported."""
    true = {example.group: example.claim for example in examples if example.label == ENTAILMENT}
    for example in examples:
        is_corrected = example.label != ENTAILMENT and example.group in true
        yield replace(example, spans=changed_spans(true[example.group], example.claim)) if is_corrected else example


def changed_spans(before: str, after: str) -> Spans | None:
    """Returns the words of `after` that are not in `before`, in its place; None when nothing was put in."""
    words = [(match.start(), match.end()) for match in re.finditer(r"\S+", after)]
    old, new = before.split(), [after[start:end] for start, end in words]
    spans = [
        (words[first][0], words[last - 1][1])
        for kind, _, _, first, last in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
        if kind != "equal" and last > first
    ]
    return tuple(spans) or None


FOREIGN = "foreign"
"""Edit of a claim that belongs to another document."""


def make_foreign(examples: Sequence[Example], documents: Mapping[str, str], count: int) -> Iterator[Example]:
    """Yields claims beside documents that they have nothing to do with; the same examples give the same.

    Args:
        documents: texts by digest.
    """
    rng = random.Random(_SEED)
    for example, other in zip(rng.sample(examples, count), rng.sample(examples, count), strict=True):
        if example.document != other.document:
            premise = PoolDocument(documents[example.document]).passage(other.claim)
            yield replace(example, claim=other.claim, premise=premise, label=NOT_SUPPORTED, spans=None, edit=FOREIGN)


def with_short_premises(examples: Sequence[Example], documents: Mapping[str, str]) -> Iterator[Example]:
    """Yields the examples with the short passage as premise; with their own, where the two are the same.

    Args:
        documents: texts by digest.
    """
    opened = {digest: PoolDocument(documents[digest]) for digest in dict.fromkeys(one.document for one in examples)}
    for example in examples:
        yield replace(example, premise=opened[example.document].passages(example.claim)[-1])


NLI_LABELS = {"entailment": ENTAILMENT, "neutral": NEUTRAL, "contradiction": CONTRADICTION}
NLI_PARTS = {"mnli": 19_000, "snli": 3_000, "cad": 6_000, "conjnli": 1_500}
"""Parts of the NLI pool whose licence allows training, by the beginning of their names, with the pairs drawn."""


def read_nli(path: Path) -> Iterator[Example]:
    """Yields training pairs, shuffled; the same file gives the same pairs. No part of them is for development."""
    parts: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        part = next((name for name in NLI_PARTS if row["source"].startswith(name)), None)
        if part:
            parts[part].append(row)
    rng = random.Random(_SEED)
    for part, rows in parts.items():
        for number, row in enumerate(rng.sample(rows, min(len(rows), NLI_PARTS[part]))):
            label = NLI_LABELS[row["label"]]
            spans = () if label == ENTAILMENT else None
            yield Example("nli", "f" * 16, row["premise"], row["hypothesis"], label, f"{part}{number}", spans)
