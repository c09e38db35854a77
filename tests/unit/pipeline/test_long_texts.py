"""Nothing is remembered of long texts."""

import gc
import weakref

import pytest

from pipeline.judge.evidence.tone import sentiment
from pipeline.reading.values import find_values


class _Text(str):
    """A text that tells when it is gone."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("reader", [find_values, sentiment])
def test_no_reader_keeps_a_long_text(reader: object) -> None:
    text = _Text("In May 2024 the good mayor paid 40 euros. " * 3000)
    gone = weakref.ref(text)
    assert callable(reader)
    reader(text)
    del text
    gc.collect()
    assert gone() is None
