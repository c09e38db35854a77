"""Development claims of the benchmark, with models that go by words."""

import gzip
import json
from pathlib import Path

import pytest

from scripts.benchmarks.judge.development import (
    POOL,
    add_record,
    measure_calibration,
    measure_development,
    read_development,
    sample_claims,
    sample_faithful,
)
from scripts.benchmarks.judge.results import COLUMNS, Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.claim_training.example import digest_of, is_development
from tests.fakes_pipeline import fake_models


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a pool of claims."""
    rows = []
    for number in range(400):
        town = f"Town{number}"
        document = f"The mayor of {town} opened a bridge on Monday with 300 guests. It was paid for by the state."
        for label, claim in ((1, f"The mayor of {town} opened a bridge."), (0, "Elephants bought a cinema.")):
            source = ("defacto", "pubmedqa", "fool_me_twice")[number % 3]
            about = {"id": f"{number} {label}", "pair": f"{number}", "kind": "supported" if label else "not_supported"}
            rows.append({"source": source, "document": document, "claim": claim, "label": label, **about})
    (tmp_path / POOL).parent.mkdir()
    with gzip.open(tmp_path / POOL, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(one)}\n" for one in rows)
    return tmp_path


def test_only_documents_that_no_training_sees_are_read(folder: Path) -> None:
    rows = read_development(folder, 100)
    assert rows
    assert all(is_development(digest_of(text)) and example.is_development for text, example in rows)
    assert len({text for text, _ in read_development(folder, 2)}) < len({text for text, _ in rows})
    assert read_development(folder / "nowhere", 2) == []


async def test_development_claims_are_measured_by_source(folder: Path) -> None:
    rows, results, runner = read_development(folder, 100), Results(), JudgeRunner(fake_models())
    await measure_development(runner, sample_claims(rows, 8), results)
    await measure_calibration(runner, sample_faithful(rows, 2), results)
    add_record({}, results)
    assert results.figures["claims_dev_bacc"] == 1  # all words, or none of them
    assert results.figures["claims_loso_bacc"] is None
    assert results.figures["claims_lengthened_true_negative_rates"] == {"0": 1, "700": 1, "2000": 1}
    assert results.figures["claims_lengthened_spread"] == 0
    assert results.figures["faithful_above_5"] == 1
    assert all(len(cells) == len(COLUMNS) for cells in results.rows)


def test_the_record_of_the_training_is_quoted() -> None:
    results, measured = Results(), {"snli_dev": {"pairs": 100, "accuracy": 0.91}}
    left_out = {"defacto": 0.7, "pubmedqa": 0.8}
    add_record(
        {"development": {"balanced_accuracy": 0.81}, "leave_one_source_out": left_out, "measured": measured}, results
    )
    assert list(results.figures.values()) == [0.81, 0.75, {"snli_dev": 0.91}]
