import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inference.batching.batcher import ResultCache

ROW = np.ones(4, np.float32)


def test_a_row_is_copied_in() -> None:
    cache = ResultCache(10_000)
    batch = np.ones((2, 4), np.float32)
    cache.put(b"a", batch[0])
    batch[0] = 5
    kept = cache.get(b"a")
    assert kept is not None
    assert kept.tolist() == [1, 1, 1, 1]
    assert kept.base is None


def test_the_row_used_longest_ago_makes_room() -> None:
    cache = ResultCache(2 * 400)
    cache.put(b"a", ROW)
    cache.put(b"b", ROW)
    assert cache.get(b"a") is not None
    cache.put(b"c", ROW)
    assert [cache.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]


@given(keys=st.lists(st.binary(min_size=1, max_size=300), max_size=40), max_bytes=st.integers(0, 5_000))
def test_memory_is_bounded_and_accounted_for(keys: list[bytes], max_bytes: int) -> None:
    cache = ResultCache(max_bytes)
    for key in keys:
        cache.put(key, ROW)
        assert cache.byte_count <= max_bytes
    kept = {key for key in keys if cache.get(key) is not None}
    assert len(kept) == len(cache)
    assert cache.byte_count >= sum(len(key) + ROW.nbytes for key in kept)
