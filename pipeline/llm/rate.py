"""A rate that may not be exceeded: tokens or requests per minute."""

_BURST_S = 10.0  # an idle endpoint may be given this much of its rate at once


class Rate:
    """A bucket that fills at a steady rate and holds ten seconds' worth.

    In any stretch of T seconds at most `per_minute * (T + 10) / 60` are let through, plus one request that is larger
    than the bucket: that one waits until the bucket is full and leaves a debt which the others wait for.
    """

    def __init__(self, per_minute: float) -> None:
        self._per_s = per_minute / 60
        self._capacity = self._per_s * _BURST_S
        self._level = self._capacity
        self._updated_s = 0.0

    def reserve(self, amount: float, now_s: float) -> float:
        """Takes `amount` and returns when it may be used: `now_s` or later. Reservations are served in order."""
        self._fill(now_s)
        missing = min(amount, self._capacity) - self._level
        self._level -= amount
        return now_s + max(0.0, missing / self._per_s)

    def give_back(self, amount: float, now_s: float) -> None:
        """Returns what was reserved and not used; a negative amount takes what was used beyond."""
        self._fill(now_s)
        self._level = min(self._capacity, self._level + amount)

    def _fill(self, now_s: float) -> None:
        self._level = min(self._capacity, self._level + (now_s - self._updated_s) * self._per_s)
        self._updated_s = now_s
