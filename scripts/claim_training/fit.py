"""Trains the encoder's updates, and asks it for probabilities."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from scripts.claim_training.encoder import Encoder
from scripts.claim_training.example import ENTAILMENT, NOT_SUPPORTED
from scripts.claim_training.measure import Marked
from scripts.claim_training.sampling import Batch, Tokens, pack

LOW_RANK_RATE, OTHER_RATE = 8e-4, 1e-4
WARM_UP = 0.06  # of the steps
_LEAST_RATE = 0.02
_MARGIN, _MARGIN_WEIGHT = 2.0, 0.3  # log-odds between a claim and its false edit
_MARK_WEIGHT, _UNSUPPORTED_WEIGHT = 0.2, 3.0  # unsupported words are few
_PAUSE, _KEEP = 25, 100  # steps between reports, and copies
_IS_UPDATE = (".down", ".up")


@dataclass(frozen=True)
class Plan:
    """How it is trained.

    Attributes:
        rate: factor on both learning rates.
        minutes: after which training ends; rates fall with the time where it is shorter than the batches.
    """

    rate: float = 1.0
    minutes: float = math.inf


def fit(
    model: Encoder,
    batches: Sequence[Batch],
    plan: Plan,
    *,
    report: Callable[[str], None] = print,
    keep: Callable[[], None] = lambda: None,
) -> None:
    """Goes over all batches once; learning rates rise, then fall to nearly nothing.

    Args:
        keep: is called now and then, to save what has been learned.
    """
    named = list(model.named_parameters())
    groups = [
        {"params": [value for name, value in named if name.endswith(_IS_UPDATE)], "lr": LOW_RANK_RATE * plan.rate},
        {"params": [value for name, value in named if not name.endswith(_IS_UPDATE)], "lr": OTHER_RATE * plan.rate},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.0, eps=1e-6, betas=(0.9, 0.98))
    rises = max(1, int(WARM_UP * len(batches)))
    started, tokens, smooth = time.monotonic(), 0, 0.0

    def passed(step: int) -> float:
        return max(step / len(batches), (time.monotonic() - started) / (60 * plan.minutes))

    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / rises) * max(_LEAST_RATE, 1 - passed(step))
    )
    for step, batch in enumerate(batches, start=1):
        loss = batch_loss(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        tokens += int(batch.mask.sum())
        smooth = loss.item() if step == 1 else 0.98 * smooth + 0.02 * loss.item()
        if step % _PAUSE == 0:
            rate_now = tokens / (time.monotonic() - started)
            report(f"step {step} of {len(batches)}, loss {smooth:.4f}, {rate_now:.0f} tokens/s")
        if step % _KEEP == 0:
            keep()
        if passed(step) >= 1:
            return


def batch_loss(model: Encoder, batch: Batch) -> Tensor:
    """Returns the loss of labels, pairs and marked words; entailment, the first label, has the odds of its source."""
    logits, marks = model(batch.ids, batch.mask)
    log_shares = torch.log_softmax(torch.cat([logits[:, :1] + batch.priors[:, None], logits[:, 1:]], 1), -1)
    told = -log_shares.gather(1, batch.labels.clamp(max=NOT_SUPPORTED - 1)[:, None])[:, 0]
    refused = -torch.logsumexp(log_shares[:, 1:], 1)
    label_loss = torch.where(batch.labels == NOT_SUPPORTED, refused, told).mean()
    odds = log_shares[:, ENTAILMENT] - torch.logsumexp(log_shares[:, 1:], 1)
    asked = batch.marks >= 0
    mark_loss = torch.zeros(())
    if bool(asked.any()):
        weight = 1 + (_UNSUPPORTED_WEIGHT - 1) * batch.marks[asked]
        mark_loss = functional.binary_cross_entropy_with_logits(marks[asked], batch.marks[asked], weight)
    return label_loss + _MARGIN_WEIGHT * _pair_loss(odds, batch) + _MARK_WEIGHT * mark_loss


def _pair_loss(odds: Tensor, batch: Batch) -> Tensor:
    """Returns how far a claim's log-odds are from being a margin above those of its false variants."""
    groups: defaultdict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for at, row in enumerate(batch.rows):
        groups[f"{row.example.source} {row.example.group}"][row.example.label != ENTAILMENT].append(at)
    pairs = [pair for true, false in groups.values() for pair in product(true, false)]
    if not pairs:
        return torch.zeros(())
    true, false = torch.tensor(pairs).T
    return functional.relu(_MARGIN - (odds[true] - odds[false])).mean()


@dataclass(frozen=True)
class Predictions:
    """What the encoder says of some rows, in their order.

    Attributes:
        logits: shape (rows, 3).
        marks: by row, the log-odds that each token of its claim is not supported.
    """

    logits: NDArray[np.float64]
    marks: Sequence[NDArray[np.float64]]


def predict(model: Encoder, rows: Sequence[Tokens]) -> Predictions:
    """Asks the encoder, many rows at a time."""
    logits = np.zeros((len(rows), 3))
    marks = [np.zeros(0)] * len(rows)
    position = {id(row): at for at, row in enumerate(rows)}
    with torch.no_grad():
        for batch in pack([[row] for row in rows], 6000, seed=0):
            found, marked = (part.double().numpy() for part in model(batch.ids, batch.mask))
            for row, own, tokens in zip(batch.rows, found, marked, strict=True):
                at = position[id(row)]
                logits[at], marks[at] = own, tokens[row.claim[0] : row.claim[1]]
    return Predictions(logits, marks)


def mark_figures(rows: Sequence[Tokens], marks: Sequence[NDArray[np.float64]]) -> tuple[float, dict[str, object]]:
    """Returns a threshold in log-odds, and how well it finds unsupported words of false claims.

    The threshold is chosen on one half of the documents, the figures are of the other.
    """
    halves: tuple[list[int], list[int]] = ([], [])
    for at, row in enumerate(rows):
        if row.example.label != ENTAILMENT and row.unsupported is not None:
            halves[int(row.example.document[-1], 16) % 2].append(at)
    chosen_on, reported = (
        Marked(
            np.concatenate([marks[at] for at in half]),
            np.concatenate([np.array(rows[at].unsupported, dtype=bool) for at in half]),
        )
        for half in halves
    )
    threshold = chosen_on.best_threshold()
    return threshold, {
        "claims": len(halves[1]),
        "f1": _rounded(reported.f_score(threshold)),
        "f1_at_even_odds": _rounded(reported.f_score(0.0)),
        "f1_of_all_words": _rounded(reported.f_score(-np.inf)),
    }


def _rounded(value: float) -> float:
    return round(value, 4)
