"""Measures the phases of one evaluation."""

from time import perf_counter

from pipeline.evaluate.result import Timings


class Stopwatch:
    """Counts the milliseconds of consecutive phases."""

    def __init__(self) -> None:
        self._laps_s = [perf_counter()]

    def lap(self) -> None:
        """Ends a phase, of which there are four: heuristics, embedding, nli, aggregation."""
        self._laps_s.append(perf_counter())

    def timings(self) -> Timings:
        """Returns what was measured; phases that were not reached took 0."""
        phases = [1_000 * (end - start) for start, end in zip(self._laps_s, self._laps_s[1:], strict=False)]
        heuristics_ms, embedding_ms, nli_ms, aggregation_ms = phases + [0.0] * (4 - len(phases))
        return Timings(sum(phases), heuristics_ms, embedding_ms, nli_ms, aggregation_ms)
