"""Tells a deadline that passed from a client that left. gRPC does not say which it was.

A client resets its stream in both cases, with the same HTTP/2 error (CANCEL), and the server learns only that the call
is cancelled. Its own clock tells the rest, up to two uncertainties. The timeout on the wire has three digits, rounded
up: a server that reads 124 s may be called with 123.01 s. And the request may have been slower than the reset.
"""

import math

_DIGITS = 3
_LEAST_STEP_S = 0.001
_JITTER_S = 0.02  # 500 calls at once over the loopback: 5.5 ms
_JITTER_SHARE = 0.5  # of a short timeout, so that who leaves early has cancelled in any case


def has_passed(remaining_s: float, elapsed_s: float) -> bool:
    """Tells whether a call that was cancelled has most likely met its deadline.

    Args:
        remaining_s: until the deadline by the server's clock, when the call was cancelled.
        elapsed_s: since the call began, by the same clock.
    """
    timeout_s = remaining_s + elapsed_s
    return remaining_s <= rounding_s(timeout_s) + min(_JITTER_S, _JITTER_SHARE * timeout_s)


def rounding_s(timeout_s: float) -> float:
    """Returns how much a timeout may have been rounded up on its way, in seconds.

    Args:
        timeout_s: as the server sees it; a little may have passed already.
    """
    if timeout_s <= 0:
        return _LEAST_STEP_S
    digits = math.floor(math.log10(1.01 * timeout_s)) + 1  # 9.99 s may be what is left of 10 s
    return max(_LEAST_STEP_S, float(10.0 ** (digits - _DIGITS)))
