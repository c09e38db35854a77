"""How long a summary should be."""

from pathlib import Path

import pytest

from server.cli.commands.evaluate import read_length, target
from server.cli.errors import InputError


@pytest.mark.parametrize(
    ("tokens", "goal"), [(1, "1"), (200, "200"), (500, "300"), (5_000, "500"), (15_000, "1,000"), (50_000, "2,500")]
)
def test_the_target_is_that_of_the_schedule_and_never_more_than_the_document(
    tokens: int, goal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target(length=str(tokens))
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines() if line.rstrip().endswith("%")] == [goal]


def test_a_document_is_counted(tmp_path: Path) -> None:
    document = tmp_path / "report.txt"
    document.write_text("word " * 1_000)
    assert read_length(str(document)) == 1_300
    assert read_length("10,000") == 10_000


@pytest.mark.parametrize("length", ["0", "9" * 13, "no such file", "-5"])
def test_what_is_no_length_is_refused(length: str) -> None:
    with pytest.raises(InputError):
        read_length(length)


def test_without_a_length_a_table_has_every_tier(capsys: pytest.CaptureFixture[str]) -> None:
    target(length=None)
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.rstrip().endswith("%")]
    assert [row[2] for row in rows] == ["300", "300", "500", "1,000", "2,500", "2,500"]
    assert rows[0] == ["500", "385", "300", "231", "60.0%"]
