"""Measures the phases of one judgement."""

from time import perf_counter

from pipeline.judge.judgement import JudgeTimings


class Stopwatch:
    """Counts the milliseconds of two consecutive phases: evidence, scoring."""

    def __init__(self) -> None:
        self._laps_s = [perf_counter()]

    def lap(self) -> None:
        """Ends a phase."""
        self._laps_s.append(perf_counter())

    def timings(self) -> JudgeTimings:
        """Returns what was measured, after both phases."""
        start_s, evidence_s, end_s = self._laps_s
        return JudgeTimings(
            total_ms=1e3 * (end_s - start_s),
            evidence_ms=1e3 * (evidence_s - start_s),
            scoring_ms=1e3 * (end_s - evidence_s),
        )
