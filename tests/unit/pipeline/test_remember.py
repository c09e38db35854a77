"""What is remembered of texts: short ones, so many of them."""

import gc
import weakref

import pytest

from pipeline.judge.evidence.tone import sentiment
from pipeline.reading.values import find_date_parts, find_quantities
from pipeline.remember import remember_short


def test_short_texts_are_read_once_and_long_ones_each_time() -> None:
    read: list[str] = []

    @remember_short(2, most_chars=3)
    def count(text: str) -> int:
        read.append(text)
        return len(text)

    assert [count(text) for text in ("abc", "abc", "abcd", "abcd", "d", "e", "abc")] == [3, 3, 4, 4, 1, 1, 3]
    assert read == ["abc", "abcd", "abcd", "d", "e", "abc"]


class _Text(str):
    """A text that tells when it is gone."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("reader", [find_quantities, find_date_parts, sentiment])
def test_no_reader_keeps_a_long_text(reader: object) -> None:
    text = _Text("In May 2024 the good mayor paid 40 euros. " * 3000)
    gone = weakref.ref(text)
    assert callable(reader)
    reader(text)
    del text
    gc.collect()
    assert gone() is None
