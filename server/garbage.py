"""The garbage collector of a long-lived process."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 20_000  # a few MB at most; the default of 700 is reached by two calls


@contextmanager
def spared() -> Iterator[None]:
    """Makes the collector look less often, and never at what start-up made. Enter it once the server has started.

    Modules, settings and models live as long as the process; a full collection would walk them all, with every call
    waiting. Collecting the young every few calls took 8% of the event loop's thread under load.
    """
    thresholds = gc.get_threshold()
    gc.collect()  # or the garbage of the start would be kept for ever
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
