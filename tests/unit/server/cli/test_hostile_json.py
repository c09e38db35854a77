"""JSON files whose numbers and nesting Python itself refuses: one line that names the place, for every reader."""

from collections.abc import Callable
from pathlib import Path

import pytest
from precis.v1 import judge_pb2 as pb
from precis.v1 import synthesis_pb2

from server.cli.agreement.calibrate import read_labels
from server.cli.agreement.compare import read_scores
from server.cli.assessments import asking
from server.cli.commands.assess import QuestionOptions
from server.cli.commands.judge import ScoreKind
from server.cli.errors import InputError
from server.cli.evaluate.evaluations import read_candidates
from server.cli.files import parse_message, parse_object
from server.cli.judge.calibration import read_calibration
from server.cli.load import find_target

LONG = "9" * 5_000
DEEP = "[" * 900 + "]" * 900
READERS: dict[str, Callable[[Path], object]] = {
    "labels": lambda path: read_labels(path, is_binary=True),
    "results": lambda path: read_scores(path, ScoreKind()),
    "calibration": read_calibration,
    "evaluation": lambda path: read_candidates(path, []),
    "evidence": lambda path: asking(synthesis_pb2.SynthesizeRequest(), path, QuestionOptions()),
    "requests": lambda path: find_target("judge", path),
}


@pytest.mark.parametrize(
    ("value", "message"), [(LONG, "not JSON: number out of range"), (DEEP, "not JSON: recursion limit exceeded")]
)
@pytest.mark.parametrize("reader", READERS)
def test_what_python_cannot_hold_is_named_with_its_file(tmp_path: Path, reader: str, value: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"id": "a", "label": {value}}}\n', encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        READERS[reader](path)
    assert caught.value.message.startswith(str(path))


def test_a_long_number_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"source": "S", "summary": "S", "label": {"9" * 400}}}\n', encoding="utf-8")
    with pytest.raises(InputError, match="label: expected 0 or 1, got 999"):
        read_labels(path, is_binary=True)


@pytest.mark.parametrize("text", [r'{"a": "\ud800"}', "[1]", "{", "\0"])
def test_what_is_no_object_of_texts_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_object(text)


@pytest.mark.parametrize("text", ['{"frameworks": [1e999]}', '{"priority": -1e999}'])
def test_what_no_field_of_the_contract_holds_is_an_error_of_the_input(text: str) -> None:
    with pytest.raises(InputError):
        parse_message(parse_object(text), pb.JudgeRequest())
