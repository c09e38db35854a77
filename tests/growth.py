"""Tells work whose time grows like the square of a text's length from work whose time grows with it.

What is compared is CPU time of this thread at two lengths, never an amount of it, so that a slow or busy machine
changes nothing: eight times the text takes about 8 times as long, or about 64 times.
"""

import time
from collections.abc import Callable
from itertools import pairwise

_TINY, _SHORT, _SCALE = (10, 20, 40, 80, 160, 320), 125, 8  # characters, but for the last
_SUSPICIOUS = 14  # times as long for 8 times the text
_EXPLOSIVE = 24  # times as long for twice the text: longer ones would never end
_LONGEST = 16_000
_STEEP = 2.7  # times as long for twice the text: 2 is linear, 4 is quadratic
_ENOUGH_S = 0.03  # of one run: measured well, and twice the length would only cost time


def grows_like_square(work: Callable[[str], object], make: Callable[[int], str], short: int = _SHORT) -> bool:
    """Tells whether the time of work grows faster than the text, by its square or worse.

    A repeat of bounded length looks quadratic in a short text and no more in a longer one: each doubling must be steep.

    Args:
        make: returns a text of about so many characters.
        short: characters at which noise is small beside the time.
    """
    if any(_times(work, make(one), make(two), _EXPLOSIVE) > _EXPLOSIVE for one, two in pairwise(_TINY)):
        return True
    length = _SCALE * short
    if _times(work, make(short), make(length), _SUSPICIOUS) < _SUSPICIOUS:
        return False
    taken_s = 0.0
    while taken_s < _ENOUGH_S and length < _LONGEST:
        length *= 2
        before_s, taken_s = _best_s(work, make(length // 2), make(length))
        if taken_s < _STEEP * before_s:
            return False
    return True


def _times(work: Callable[[str], object], short: str, long: str, suspicious: float) -> float:
    """Returns how much longer the longer text takes. Measures with care only what is suspicious: most is not."""
    short_s, long_s = _best_s(work, short, long, 1)
    if long_s >= suspicious * short_s:
        short_s, long_s = _best_s(work, short, long)
    return long_s / short_s


def _best_s(work: Callable[[str], object], short: str, long: str, runs: int = 7) -> tuple[float, float]:
    """Measures two texts by turns, so that a busy neighbour slows both."""
    best_s = [float("inf")] * 2
    for _ in range(runs):
        for at, text in enumerate((short, long)):
            began_s = time.thread_time()
            work(text)
            best_s[at] = min(best_s[at], time.thread_time() - began_s)
    return max(best_s[0], 1e-9), max(best_s[1], 1e-9)  # what the clock cannot see
