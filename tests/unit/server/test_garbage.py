"""The collector's settings while the server runs."""

import gc
import weakref

from server.run import spared


class _Node:
    """Something that can refer to itself."""

    me: object = None


def _cycle() -> weakref.ref[_Node]:
    node = _Node()
    node.me = node
    return weakref.ref(node)


def test_what_start_up_made_is_not_looked_at_again() -> None:
    with spared():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] == 20_000


def test_garbage_of_start_up_is_not_kept() -> None:
    cycle = _cycle()
    with spared():
        assert cycle() is None


def test_garbage_of_calls_is_collected_again() -> None:
    gc.disable()  # as a start does
    with spared():
        cycle = _cycle()
        fillers = [[index] for index in range(20_000 + 1)]
        assert cycle() is None
        assert len(fillers) > 20_000


def test_everything_is_as_it_was_afterwards() -> None:
    before = gc.get_threshold()
    with spared():
        pass
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
