"""`--engine ray`, on a real Ray of this machine: the same results as from a server; one bad item is one error."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server.app import App
from tests.integration.support.programs import precis

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

ITEMS = [
    {"id": str(n), "source": f"The pump has {n} bolts. It is red.", "summary": "The pump is red."} for n in range(6)
]
BAD = {"id": "bad", "source": 1, "summary": "The pump is red."}


@pytest.fixture
def variables(tiny_models: Path) -> dict[str, str]:
    return {"PRECIS_MODELS_DIR": str(tiny_models), "PRECIS_INFERENCE__RUNTIME__WARMUP_S": "0.05"}


def on_ray(*arguments: object) -> tuple[object, ...]:
    """Adds the options that choose two small actors."""
    return (*arguments, "--engine", "ray", "--workers", 2, "--cores", 1)


def written(path: Path, items: list[dict[str, Any]]) -> Path:
    """Writes items as Parquet or JSON Lines, as the name says."""
    if path.suffix == ".parquet":
        arrow = importlib.import_module("pyarrow")
        importlib.import_module("pyarrow.parquet").write_table(arrow.Table.from_pylist(items), path)
    else:
        path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


def untimed(line: str) -> str:
    """Takes the measured times, of which no two runs have the same, out of a line."""
    return json.dumps(json.loads(line, object_hook=lambda fields: {**fields, "timings": None}))


def results_in(path: Path) -> Iterator[tuple[str, object]]:
    """Yields id and result of each row."""
    for row in importlib.import_module("pyarrow.parquet").read_table(path).to_pylist():
        yield row["id"], json.loads(row["result"] or "null")


async def test_actors_write_what_a_server_writes(app: App, tmp_path: Path, variables: dict[str, str]) -> None:
    items = written(tmp_path / "items.jsonl", [*ITEMS, BAD])
    served = await precis("judge", items, "-o", tmp_path / "served.jsonl", "-a", app.address)
    spread = await precis(*on_ray("judge", items, "-o", tmp_path / "spread.jsonl"), stdin=None, **variables)
    assert served.code == spread.code == 4  # one item is bad
    lines = [sorted(map(untimed, (tmp_path / name).open())) for name in ("served.jsonl", "spread.jsonl")]
    assert len(lines[0]) == len(ITEMS) + 1
    assert lines[0] == lines[1]


async def test_parquet_goes_in_and_out_and_is_resumed_by_item(tmp_path: Path, variables: dict[str, str]) -> None:
    output = tmp_path / "results.parquet"
    first = written(tmp_path / "first.parquet", ITEMS[:4])
    assert (await precis(*on_ray("judge", first, "-o", output), stdin=None, **variables)).code == 0
    before = dict(results_in(output))
    items = written(tmp_path / "items.parquet", ITEMS)
    ended = await precis(*on_ray("judge", items, "-o", output, "--resume"), stdin=None, **variables)
    assert ended.code == 0
    after = dict(results_in(output))
    assert sorted(after) == [item["id"] for item in ITEMS]
    assert all(after[name] == result for name, result in before.items())
