"""Decides which waiting rows go together into the next forward pass.

The oldest row always goes. There are two ways to choose its company: the rows nearest in length, which cost least
padding, and the next oldest, which is fairest. A row is worth what it would cost in ideal company, and a plan is as
good as the worth of its rows over its predicted cost, padding included. The fair plan is taken when it is about
as good: always so when the graph skips padding or all rows are alike, seldom when padding is computed in full.
So one rule serves a CPU, where a lone row nearly saturates the core, and a GPU, where rows are almost free until
the device is full.

Taking the oldest each time bounds the wait: a row is overtaken only by rows that travel in the batches of its
elders, so it leaves after at most as many batches as rows were before it, whatever its length.

Measured on all-MiniLM-L6-v2 with 64 sentences in flight, CPU time against the best batches of all sentences sorted:
0.90 where padding is computed, 0.95 where it is skipped. Simulated on the same costs, p99 is 1.3 times that of
first-in-first-out without batches; letting the best of several old rows lead instead of the oldest gains 0.4% and
makes that 1.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inference.batch_limits import BatchLimits

_GOOD_ENOUGH = 0.99  # of two sizes about as good as each other, the smaller answers sooner
_HOPELESS = 0.7  # longer rows only add padding once a plan is this much worse than the best


@dataclass(frozen=True, slots=True)
class OldestPlan:
    """Takes the `count` oldest rows."""

    quality: float
    count: int


@dataclass(frozen=True, slots=True)
class NearestPlan:
    """Takes rows `start` to `stop` in order of length."""

    quality: float
    start: int
    stop: int


def plan_oldest(lengths: Iterable[int], limits: BatchLimits) -> OldestPlan:
    """Chooses how many of the oldest rows to take.

    Args:
        lengths: tokens of the waiting rows, oldest first; at least one.
        limits: bounds and costs.
    """
    plans: list[OldestPlan] = []
    rows = tokens = longest = 0
    worth = 0.0
    for length in lengths:
        rows, tokens, longest = rows + 1, tokens + length, max(longest, length)
        if not limits.allows(rows, tokens, longest):
            break
        worth += limits.worths[length]
        plans.append(OldestPlan(worth / limits.costs.seconds(rows, tokens, longest), rows))
    enough = max(plan.quality for plan in plans) * _GOOD_ENOUGH
    return next(plan for plan in plans if plan.quality >= enough)


def plan_nearest(lengths: Sequence[int], anchor: int, limits: BatchLimits) -> NearestPlan:
    """Chooses the rows nearest in length to the one that must go.

    Args:
        lengths: tokens of the waiting rows, ascending.
        anchor: index of the row that must go.
        limits: bounds and costs.
    """
    plans: list[NearestPlan] = []
    tokens, worth, best = 0, 0.0, 0.0
    for stop in range(anchor + 1, min(anchor + limits.max_rows, len(lengths)) + 1):
        longest = lengths[stop - 1]
        tokens, worth = tokens + longest, worth + limits.worths[longest]
        if not limits.allows(stop - anchor, tokens, longest):
            break
        is_last = stop == len(lengths) or stop - anchor == limits.max_rows
        if not is_last and lengths[stop] == longest and limits.allows(stop - anchor + 1, tokens + longest, longest):
            # The next row is as long and better company than a shorter one, so those are left for its turn.
            plans.append(NearestPlan(worth / limits.costs.seconds(stop - anchor, tokens, longest), anchor, stop))
        else:
            plans.append(_extend_down(lengths, anchor, stop, limits=limits, total=(tokens, worth)))
        best = max(best, plans[-1].quality)
        if plans[-1].quality < best * _HOPELESS:
            break
    return next(plan for plan in plans if plan.quality >= best * _GOOD_ENOUGH)


def _extend_down(
    lengths: Sequence[int], start: int, stop: int, *, limits: BatchLimits, total: tuple[int, float]
) -> NearestPlan:
    """Adds shorter rows while each makes the batch better. `total` is the tokens and worth so far."""
    rows, longest, (tokens, worth) = stop - start, lengths[stop - 1], total
    cost = limits.costs.seconds(rows, tokens, longest)
    while start > 0 and limits.allows(rows + 1, tokens + lengths[start - 1], longest):
        length = lengths[start - 1]
        gain = limits.worths[length]
        more = limits.costs.seconds(rows + 1, tokens + length, longest)
        if (worth + gain) * cost <= worth * more:
            break
        start, rows, tokens, worth, cost = start - 1, rows + 1, tokens + length, worth + gain, more
    return NearestPlan(worth / cost, start, stop)
