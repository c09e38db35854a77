from __future__ import annotations

import os
from pathlib import Path

import pytest

from inference.engine import usable_cpu_count

CORES = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("100000 100000", 1), ("50000 100000", 1), ("max 100000", CORES), ("99900000 100000", CORES), ("what", CORES)],
)
def test_a_quota_counts_when_it_is_smaller_than_the_affinity(tmp_path: Path, quota: str, expected: int) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    assert usable_cpu_count(tmp_path / "cpu.max") == expected


def test_without_cgroups_the_affinity_counts(tmp_path: Path) -> None:
    assert usable_cpu_count(tmp_path / "missing") == CORES
