from importlib.util import find_spec

import pytest

from scripts.benchmarks.__main__ import FOLDERS, Benchmark


@pytest.mark.parametrize("benchmark", Benchmark)
def test_every_benchmark_has_its_module(benchmark: Benchmark) -> None:
    assert find_spec(f"scripts.benchmarks.{FOLDERS[benchmark]}.{benchmark}")
