"""Which examples an epoch is made of, and how they are packed into batches."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor

from scripts.claim_training.by_hand import LLM_CLAIMS, MADE_BY_HAND, PAIRS
from scripts.claim_training.example import ENTAILMENT, Example
from scripts.claim_training.joining import JOINED
from scripts.claim_training.templates import FAMILIES

GROUPS_OF_SOURCE = {
    "fever_nli": (2200, 2200),
    "ragtruth_data2txt": (1500, 900),
    "ragtruth_qa": (1400, 520),
    "defacto": (4500, 800),
    "mctest_nli": (500, 700),
    "fool_me_twice": (1300, 1300),
    "cg2c_doc": (2200, 1100),
    "pubmedqa": (1200, 0),
    "fever_symmetric": (700, 700),
    "bump": (1200, 800),
    "wice_tokens": (200, 170),
    "nli": (30_000, 30_000),
    "templates": (2500, 2500),
    JOINED: (3000, 0),
    PAIRS: (20_000, 0),
    LLM_CLAIMS: (20_000, 20_000),
    FAMILIES: (20_000, 0),
}
"""Groups of variants that are drawn for an epoch: with a supported claim, and without."""

EDITED_SHARE = 0.6  # of groups that keep their edits
_MOST_LOG_ODDS = 1.5  # of supported claims, that a source is credited with
_MOST_TOKENS = 320  # of a pair: the end of a longer premise is cut
_JITTER = 12.0  # tokens by which lengths are blurred when they are sorted


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenized example.

    Attributes:
        claim: the first token of the claim and the one behind its last.
        unsupported: 1 for tokens of the claim inside its spans; None where nobody marked them.
    """

    example: Example
    ids: list[int]
    claim: tuple[int, int]
    unsupported: list[int] | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples side by side.

    Attributes:
        ids: shape (examples, length), padded with 0.
        mask: likewise, 1 for a token.
        labels: shape (examples,).
        marks: shape (examples, length): 1 unsupported, 0 supported, -1 not asked.
        priors: shape (examples,): log-odds of supported claims in the source of each.
    """

    rows: tuple[Tokens, ...]
    ids: Tensor
    mask: Tensor
    labels: Tensor
    marks: Tensor
    priors: Tensor

    @classmethod
    def of(cls, rows: Sequence[Tokens], priors: Mapping[str, float]) -> "Batch":
        """Pads some examples.

        Args:
            priors: by kind of example; see `prior_log_odds`.
        """
        shape = (len(rows), max(len(row.ids) for row in rows))
        ids, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
        marks = torch.full(shape, -1.0)
        for at, row in enumerate(rows):
            ids[at, : len(row.ids)] = torch.tensor(row.ids)
            mask[at, : len(row.ids)] = 1
            if row.unsupported is not None:
                marks[at, row.claim[0] : row.claim[1]] = torch.tensor(row.unsupported, dtype=torch.float32)
        labels = torch.tensor([row.example.label for row in rows])
        odds = torch.tensor([priors.get(_kind(row.example), 0.0) for row in rows])
        return cls(tuple(rows), ids, mask, labels, marks, odds)


def tokenize(example: Example, tokenizer: Tokenizer) -> Tokens:
    """Encodes a pair as the served model gets it."""
    encoding = tokenizer.encode(example.premise, example.claim)
    places = [at for at, sequence in enumerate(encoding.sequence_ids) if sequence == 1]
    first, last = (places[0], places[-1] + 1) if places else (len(encoding.ids) - 1,) * 2
    unsupported = None
    if example.spans is not None:
        spans = example.spans
        offsets = encoding.offsets[first:last]
        unsupported = [int(any(start < b and a < end for a, b in spans)) for start, end in offsets]
    ids, cut = encoding.ids, max(0, len(encoding.ids) - _MOST_TOKENS)
    if cut:
        ids = ids[: first - 1 - cut] + ids[first - 1 :]
    return Tokens(example, ids, (first - cut, last - cut), unsupported)


def sample_epoch(
    rows: Iterable[Tokens], seed: int, *, without: Sequence[str] = (), replay: float = 1.0
) -> list[list[Tokens]]:
    """Returns groups for one epoch in random order; the same seed gives the same groups.

    Args:
        without: sources that are left out.
        replay: share of the groups of each source that is drawn; of what was made by hand all are.
    """
    rng = random.Random(seed)
    groups: defaultdict[str, list[Tokens]] = defaultdict(list)
    for row in rows:
        if row.example.source not in without:
            groups[f"{row.example.source} {row.example.group}"].append(row)
    kinds: defaultdict[tuple[str, bool], list[list[Tokens]]] = defaultdict(list)
    for members in groups.values():
        has_true = any(row.example.label == ENTAILMENT for row in members)
        first = members[0].example
        kinds[_kind(first), has_true].append(members)
    drawn: list[list[Tokens]] = []
    for (source, has_true), found in kinds.items():
        most = min(GROUPS_OF_SOURCE[source][0 if has_true else 1], len(found))
        drawn += rng.sample(found, most if source in (*MADE_BY_HAND, FAMILIES) else round(replay * most))
    rng.shuffle(drawn)
    return [_kept(members, rng) for members in drawn]


def prior_log_odds(groups: Iterable[Sequence[Tokens]]) -> dict[str, float]:
    """Returns by source the log-odds that a claim of it is supported, within bounds; none of plain inference.

    Added to the log-odds of a claim in the loss, they keep a source's share of supported claims out of the weights
    (Menon et al. 2021, arXiv 2007.07314).
    """
    counts: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for row in (row for group in groups for row in group):
        counts[_kind(row.example)][row.example.label == ENTAILMENT] += 1
    odds = {kind: math.log((count[True] + 1) / (count[False] + 1)) for kind, count in counts.items()}
    bounded = {kind: max(-_MOST_LOG_ODDS, min(_MOST_LOG_ODDS, value)) for kind, value in odds.items()}
    return {kind: value for kind, value in bounded.items() if kind not in ("nli", "templates", FAMILIES)}


def _kind(example: Example) -> str:
    return JOINED if example.edit == JOINED else example.source


def _kept(members: list[Tokens], rng: random.Random) -> list[Tokens]:
    if rng.random() < EDITED_SHARE:
        return members
    return [row for row in members if row.example.edit in ("", "copied", JOINED)] or members


def pack(
    groups: Sequence[Sequence[Tokens]], most_tokens: int, seed: int, priors: Mapping[str, float] | None = None
) -> list[Batch]:
    """Packs groups of like length into batches of at most so many tokens with padding, in random order."""
    rng = random.Random(seed)
    ranked = sorted(groups, key=lambda group: max(len(row.ids) for row in group) + rng.random() * _JITTER)
    batches: list[Batch] = []
    held: list[Tokens] = []
    for group in ranked:
        longest = max(len(row.ids) for row in (*held, *group))
        if held and longest * (len(held) + len(group)) > most_tokens:
            batches.append(Batch.of(held, priors or {}))
            held = []
        held += group
    batches.append(Batch.of(held, priors or {}))
    rng.shuffle(batches)
    return batches
