"""Nothing is remembered of long texts."""

import gc
import weakref

from pipeline.reading.values import find_values


class _Text(str):
    """A text that tells when it is gone."""

    __slots__ = ("__weakref__",)


def test_the_reader_of_values_keeps_no_long_text() -> None:
    text = _Text("In May 2024 the good mayor paid 40 euros. " * 3000)
    gone = weakref.ref(text)
    find_values(text)
    del text
    gc.collect()
    assert gone() is None
