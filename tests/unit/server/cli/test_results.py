"""Results of a bulk run: what a later run finds again, whatever ended the one before."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from google.rpc import code_pb2
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.bulk import earlier_results, to_answer
from server.cli.commands.judge import JudgeOptions
from server.cli.errors import CliError, InputError
from server.cli.files import result_file
from server.cli.judge.judgements import Item, JudgeAnswer, to_work
from server.cli.options import RunOptions
from tests.judgements import judgement

WORK = to_work(JudgeOptions(), is_bulk=True)
ITEMS = [Item(f"item-{number}", f"Source {number}.", "Summary.") for number in range(4)]


def answered(item: Item) -> JudgeAnswer:
    return to_answer(WORK, item.id, item, item.sha256(), judgement())


def failed(item: Item) -> JudgeAnswer:
    error = common_pb2.ItemError(code=code_pb2.INVALID_ARGUMENT, message="no")
    return to_answer(WORK, item.id, item, item.sha256(), error)


def opened(output: Path) -> AbstractContextManager[Callable[[str], pb.JudgeResult | None]]:
    return earlier_results(RunOptions(output=output, resume=True), WORK)


def found(output: Path, items: list[Item]) -> list[str]:
    """The ids of what a run with --resume would not judge again."""
    with opened(output) as earlier:
        return [item.id for item in items if earlier(item.sha256())]


class Stopped(Exception):  # noqa: N818 - stands for Ctrl+C
    """Ends a run."""


def interrupted(output: Path, *lines: str) -> None:
    """Leaves the files of a run that was stopped."""
    with pytest.raises(Stopped):
        run_until_stopped(output, lines)


def run_until_stopped(output: Path, lines: tuple[str, ...]) -> None:
    with opened(output) as earlier, result_file(output) as file:
        assert file is not None
        kept = [answered(item).line for item in ITEMS if earlier(item.sha256())]
        file.writelines([*kept, *lines])
        raise Stopped


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text(answered(ITEMS[0]).line, encoding="utf-8")
    with opened(output) as earlier:
        assert earlier(ITEMS[0].sha256()) == judgement()
        assert earlier(ITEMS[0].sha256()) is None


def test_failed_and_changed_items_are_judged_again(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text(answered(ITEMS[0]).line + failed(ITEMS[1]).line, encoding="utf-8")
    assert found(output, ITEMS) == ["item-0"]
    changed = Item(ITEMS[0].id, ITEMS[0].source, "Another.")
    with opened(output) as earlier:
        assert earlier(changed.sha256()) is None
        assert earlier(ITEMS[0].sha256("ultra")) is None


def test_nothing_is_kept_without_resume(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text(answered(ITEMS[0]).line, encoding="utf-8")
    with earlier_results(RunOptions(output=output), WORK) as earlier:
        assert earlier(ITEMS[0].sha256()) is None
    with earlier_results(RunOptions(), WORK) as earlier:
        assert earlier(ITEMS[0].sha256()) is None


def test_runs_may_be_interrupted_again_and_again(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    interrupted(output, answered(ITEMS[0]).line, answered(ITEMS[1]).line)
    interrupted(output, answered(ITEMS[2]).line)
    interrupted(output, answered(ITEMS[3]).line, answered(ITEMS[0]).line[:50])  # killed while it wrote a line
    assert found(output, ITEMS) == [item.id for item in ITEMS]


def test_a_run_that_ends_leaves_its_results_alone(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    interrupted(output, answered(ITEMS[0]).line)
    with opened(output) as earlier, result_file(output) as file:
        assert earlier(ITEMS[0].sha256())
        assert file is not None
        file.write(answered(ITEMS[0]).line)
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert json.loads(output.read_text(encoding="utf-8"))["id"] == "item-0"


@pytest.mark.parametrize(
    "content", ["hello\n", "[]\n", '{"id": "a"}\n', '{"item_sha256": 5, "result": {}}\n', "[" * 9999]
)
def test_a_file_of_something_else_is_not_taken_for_results(tmp_path: Path, content: str) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="line 1 is no result of this command"), opened(output):
        pass
    assert output.read_text(encoding="utf-8") == content


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="cannot go on with"), opened(tmp_path):
        pass
