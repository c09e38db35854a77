"""Files become requests, and what is wrong with them is named."""

import json
import os
from pathlib import Path

import pytest

from server.cli.errors import CliError, InputError
from server.cli.evaluate.evaluations import parse_line, read_candidates
from server.cli.files import read_lines, result_file
from server.cli.options import check_files

GOLD = {"entry": {"text": "Source."}, "summary": {"summary": "Gold."}}


def written(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_candidates_share_datum_and_options(tmp_path: Path) -> None:
    document = {
        "datum": GOLD,
        "options": {"chunk_tokens": 64},
        "candidates": [{"name": "a", "text": "A."}, {"text": "B.", "finish_reason": "length"}],
    }
    first, second = read_candidates(written(tmp_path / "a.json", document), [])
    assert (first.id, second.id) == ("a", "candidate 2")
    assert second.request.generated.finish_reason == "length"
    assert first.request.options == second.request.options
    assert first.request.options.chunk_tokens == 64


def test_summary_files_are_candidates_too(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("\ufeffMine.", encoding="utf-8")
    path = written(tmp_path / "gold.json", GOLD)
    [candidate] = read_candidates(path, [tmp_path / "mine.txt"])
    assert (candidate.id, candidate.request.generated.text) == ("mine.txt", "Mine.")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"generated": {}, "candidates": []}, "exclude each other"),
        ({"candidates": ["text"]}, "must be a list of objects"),
        ({"datum": GOLD}, "nothing to evaluate"),
        ({"datum": GOLD, "generated": {}, "candidate": []}, "candidate: no such field"),
        ({"generated": {"text": ["a"]}}, "text"),
        ({"generated": {"text": "a"}, "options": {"hit_threshold": "high"}}, "hit_threshold"),
        ({"generated": {"text": "a"}, "options": {"precision_source": "WEB"}}, "precision_source"),
        ({"generated": "text"}, "generated"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, document: object, message: str) -> None:
    path = written(tmp_path / "a.json", document)
    with pytest.raises(InputError, match=message) as caught:
        read_candidates(path, [])
    assert str(path) in caught.value.message


def test_a_line_may_have_an_id() -> None:
    named = parse_line({"id": 7, "generated": {"text": "A."}}, "line 1")
    assert (named.id, named.request.generated.text) == ("7", "A.")
    assert parse_line({}, "line 2").id == "line 2"


def test_blank_lines_are_skipped_and_numbers_are_the_files(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n\n  \r\ntwo")
    assert list(read_lines(path)) == [(1, b"one\n"), (4, b"two")]


def test_a_result_file_is_replaced_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        write_and_fail(path)
    assert path.read_text(encoding="utf-8") == "old"
    with result_file(path) as file:
        assert file is not None
        file.write("new")
    assert path.read_text(encoding="utf-8") == "new"


def test_a_failure_before_the_first_result_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), result_file(tmp_path / "out.json"):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def write_and_fail(path: Path) -> None:
    with result_file(path) as file:
        assert file is not None
        file.write("half")
        _ = 1 / 0


def test_a_pipe_is_written_to_and_a_link_stays_one(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link.json"
    os.mkfifo(pipe)
    link.symlink_to("real.json")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, link):
        with result_file(path) as file:
            assert file is not None
            file.write("new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert (pipe.is_fifo(), link.is_symlink(), link.read_text(encoding="utf-8")) == (True, True, "new")


def test_what_cannot_be_written_is_refused_before_work_begins(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        check_files([], tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        check_files([], tmp_path / "none" / "out.json")


def test_a_result_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="cannot write"), result_file(tmp_path / "none" / "out.json"):
        pass
