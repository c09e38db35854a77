"""How long a summary should be."""

import json
from pathlib import Path

import pytest

from server.cli.errors import InputError
from server.cli.evaluate.target import LengthRow, print_targets, row_of, to_row


@pytest.mark.parametrize(
    ("tokens", "target"), [(1, 1), (200, 200), (500, 300), (5_000, 500), (15_000, 1_000), (50_000, 2_500)]
)
def test_the_target_is_that_of_the_schedule_and_never_more_than_the_document(tokens: int, target: int) -> None:
    assert row_of(tokens).target_tokens == target


def test_words_are_turned_into_tokens() -> None:
    assert to_row("10,000", counts_words=True) == LengthRow(13_000, 10_000, 1_000, 769)


def test_a_document_is_counted(tmp_path: Path) -> None:
    document = tmp_path / "report.txt"
    document.write_text("word " * 1_000)
    assert to_row(str(document), counts_words=False).input_words == 1_000


@pytest.mark.parametrize("length", ["0", "9" * 13, "no such file", "-5"])
def test_what_is_no_length_is_refused(length: str) -> None:
    with pytest.raises(InputError):
        to_row(length, counts_words=False)


def test_without_a_length_a_table_has_every_tier(capsys: pytest.CaptureFixture[str]) -> None:
    print_targets(None, counts_words=False, as_json=True)
    targets = [row["target_tokens"] for row in json.loads(capsys.readouterr().out)["targets"]]
    assert targets == [300, 300, 500, 1_000, 2_500, 2_500]
