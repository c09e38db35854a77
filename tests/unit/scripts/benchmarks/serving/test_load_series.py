import pytest

from scripts.benchmarks.serving.load_series import Series
from scripts.benchmarks.shared.load_client import LoadResult
from scripts.benchmarks.shared.raw_model import Timing


def test_a_run_is_compared_with_the_raw_runs_around_it() -> None:
    series = Series()
    raw = Timing(100, seconds=1.0, cpu_s=1.8), Timing(100, seconds=0.5, cpu_s=1.0)  # 100/s and 200/s; 14 ms an input
    served = Timing(120, seconds=1.0, cpu_s=1.9)
    series.add(served, raw, _result([0.5, 0.25], cpu_s=0.2))
    assert series.rates == [120]
    assert series.ratios == [pytest.approx(120 / 150)]
    assert series.cpu_ratios == [pytest.approx(0.014 / (2.1 / 120))]


def test_latencies_are_kept_for_all_calls_and_p99_for_each_run() -> None:
    series, timing = Series(), Timing(1, 1.0, 1.0)
    for latency in (0.1, 0.3):
        series.add(timing, (timing, timing), _result([latency], cpu_s=0.1))
    assert series.p99s_ms == [pytest.approx(100), pytest.approx(300)]
    assert series.percentile_ms(50) == pytest.approx(200)


def test_the_rate_leaves_out_filling_and_draining_of_a_run_long_enough_to_have_a_middle() -> None:
    filling, steady, draining = [9.0], [10.0, 11.0, 12.0, 13.0], [30.0]
    result = LoadResult(2, 30.0, 0.0, [], [*filling, *steady, *draining], [])
    assert result.calls_per_s == pytest.approx(1.0)
    assert LoadResult(64, 2.0, 0.0, [], [1.0, 2.0], []).calls_per_s == pytest.approx(1.0)


def _result(latencies_s: list[float], *, cpu_s: float) -> LoadResult:
    return LoadResult(1, 1.0, cpu_s, latencies_s, latencies_s, [b""] * len(latencies_s))
