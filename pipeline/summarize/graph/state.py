"""The graph's state: only numbers. Texts are in the store, so that a checkpoint has the same size at every step."""

from typing import TypedDict


class SummaryState(TypedDict, total=False):
    """Where a summary stands between two steps.

    Attributes:
        iteration: from 1; 0 before the plan node.
        level: of the reduction whose texts are complete; 0 is the map.
        best_iteration: the one whose summary is the best so far; 0 before the first verdict.
    """

    iteration: int
    level: int
    best_iteration: int


class BatchTask(TypedDict):
    """One map call.

    Attributes:
        iteration: from 1.
        batch: from 0.
    """

    iteration: int
    batch: int


class GroupTask(TypedDict):
    """One reduce call.

    Attributes:
        iteration: from 1.
        level: of the result, from 1.
        group: from 0, in this level.
        group_count: of this level.
        first: position of the first text in the level below.
        last: of the last text, inclusive.
    """

    iteration: int
    level: int
    group: int
    group_count: int
    first: int
    last: int
