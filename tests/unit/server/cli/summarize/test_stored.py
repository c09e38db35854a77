"""`precis summaries check` tells damage, and what to do."""

from pathlib import Path

import pytest

from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.storage.records import SummaryRequest
from pipeline.summarize.storage.schema import Statement
from pipeline.summarize.storage.sqlite import SqliteDatabase
from pipeline.summarize.storage.store import SummaryStore
from server.cli.commands.summarize import check
from server.cli.errors import InputError, NegativeAnswer

REQUEST = SummaryRequest("id", "Name", 3, 0, SummarizeOptions(wave="all"), "writer")


@pytest.fixture
async def summaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with two summaries."""
    monkeypatch.setenv("PRECIS_SUMMARY_STORAGE__DIRECTORY", str(tmp_path))
    path = tmp_path / "summaries.sqlite"
    async with SqliteDatabase(path) as database:
        for key in ("one", "two"):
            await SummaryStore(database).create(
                REQUEST, request_key=key, document_sha256="document", idempotency_key=None
            )
    return path


def _damage(path: Path, first: int) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:first] + b"\xa5" * (len(data) - first))


async def test_a_whole_file_is_called_whole(summaries: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check()
    assert f"{summaries} is whole: 2 summaries" in capsys.readouterr().err


async def test_a_row_that_cannot_be_read_is_named(summaries: Path) -> None:
    async with SqliteDatabase(summaries) as database:
        [[damaged]] = await database.fetch("SELECT summary_id FROM summaries WHERE request_key = 'two'")
        await database.transact([Statement("UPDATE summaries SET plan = 'x' WHERE request_key = 'two'")])
    with pytest.raises(NegativeAnswer, match=f"cannot be read, and go when they expire: {damaged}$"):
        check()


@pytest.mark.parametrize("first", [0, 4_096])
async def test_of_a_damaged_file_it_is_said_how_to_save_the_rest(summaries: Path, first: int) -> None:
    _damage(summaries, first)
    with pytest.raises(NegativeAnswer, match=r"is damaged\. Stop the server, then `sqlite3 .*\.saved` saves"):
        check()


def test_without_a_file_there_is_nothing_to_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECIS_SUMMARY_STORAGE__DIRECTORY", str(tmp_path))
    with pytest.raises(InputError, match="no file"):
        check()
