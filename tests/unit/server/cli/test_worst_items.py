"""The worst of many, without keeping the others."""

from hypothesis import given
from hypothesis import strategies as st

from server.cli.spread import WorstItems


@given(st.lists(st.integers(0, 5)), st.integers(1, 4))
def test_it_keeps_what_a_stable_sort_would_put_first(badness: list[int], limit: int) -> None:
    worst: WorstItems[object] = WorstItems(limit)
    items = [object() for _ in badness]  # cannot be compared
    for value, item in zip(badness, items, strict=True):
        worst.add(value, item)
    order = sorted(range(len(items)), key=lambda position: -badness[position])[:limit]
    assert worst.ranked() == [(badness[position], items[position]) for position in order]
