"""How many requests an endpoint bears at once, found out by asking (additive increase, multiplicative decrease)."""


class AdaptiveConcurrency:
    """A limit between 1 and `maximum` that starts at `maximum`.

    Requests that were already on their way when the limit was last lowered say nothing about the lower limit, so their
    refusals do not lower it again: one burst of refusals halves it once. `generation` tells them apart.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._limit = float(maximum)
        self.generation = 0

    @property
    def limit(self) -> int:
        """Requests that may be in flight now."""
        return int(self._limit)

    def succeeded(self) -> None:
        """Grows by one for each round of `limit` good answers."""
        self._limit = min(float(self._maximum), self._limit + 1 / self._limit)

    def refused(self, generation: int) -> None:
        """Halves, if the refused request was sent under the present limit."""
        if generation == self.generation:
            self._limit = max(1.0, self._limit / 2)
            self.generation += 1
