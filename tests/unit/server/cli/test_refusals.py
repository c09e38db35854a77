"""What cannot work is one line that says what to do, for every command. A fault never looks like an answer."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from server.cli import main
from server.cli.errors import FAULT, CliError
from server.cli.main import run
from tests.integration.support.programs import unused_port

THREE = [{"id": f"row {number}", "source": "S.", "summary": "T.", "label": 3} for number in range(3)]
HERE = "--endpoint http://127.0.0.1:9/v1 --model m"
REFUSED = {
    "jugde a": "No such command 'jugde'. Did you mean 'judge'? See `precis --help`",
    "prompts check --dir none": "cannot read none: No such file",
    "health --timeout soon": "valid number",
    "evaluate": "FILE",
    "evaluate none.json": "cannot read none.json",
    "evaluate one.txt": "one.txt: not JSON: expected value at line 1 column 1; --help shows what it should hold",
    "evaluate empty.json": "empty.json: not JSON: EOF while parsing a value at line 1 column 0; --help shows",
    "evaluate pretty.jsonl": "pretty.jsonl: no line is a JSON object; one request, over several lines, is FILE.json",
    "assess none.json": "precis: cannot read none.json",
    "assess binary": "precis: binary: no text: a zero byte at 4",
    "assess -q Sharp?": "nothing to assess: give --question with --image",
    "synthesize labelled.json": "no SynthesizeRequest: evidence.tools: no such field; there are distortion_analysis",
    "assess explain.json --fail-under B": "--fail-under needs a level, which an explanation does not give",
    "assess choices.json --fail-under B": "the answer is one of the choices",
    "judge": "nothing to judge",
    "judge one.txt": "one.txt: no line is a JSON object; to judge one summary of it: precis judge --source one.txt "
    "--summary SUMMARY",
    "judge .": "cannot read .: Is a directory",
    "judge empty.json": "nothing was read",
    "judge a.txt b.txt": "unexpected extra argument(s) (b.txt). See `precis judge --help`",
    "judge --source blank.txt --summary one.txt": "blank.txt holds no text",
    "judge --source - -s one.txt -s -": "only one text can be standard input",
    "evaluate - -s -": "only one text can be standard input",
    "assess -q How? --source - --summary -": "only one text can be standard input",
    "judge x.jsonl --source a.txt": "not both",
    "judge none.jsonl": "cannot read none.jsonl",
    "judge x.jsonl --resume": "--resume needs --output",
    "judge --source a --summary b --resume": "--resume is for",
    "judge --source a --summary b --engine ray": "--engine ray is for many items",
    "judge --source none --summary none": "cannot read none",
    "judge x.jsonl --output ./x.jsonl": "x.jsonl is named twice",
    "judge x.jsonl --output y --report y": "y is named twice",
    "judge x.jsonl --framework mega": "mega",
    "judge x.jsonl --fail-under truth=7": "no such score: truth",
    "judge x.jsonl -f ultra --fail-under twin-lock:coverage=7": "names twin-lock",
    "judge labels.jsonl --calibration none.json": "cannot read none.json",
    "contract -o none/precis.pb": "there is no folder none; make it first",
    "calibrate none.jsonl": "cannot read none.jsonl",
    "calibrate labels.jsonl": "labels.jsonl: line 1: label: expected 0 or 1, got 3; for other labels give --good-from",
    "calibrate labels.jsonl --policy lenient -m coverage": "--policy lenient",
    "calibrate labels.jsonl --resume": "--resume needs --results",
    "calibrate x -o x": "x is named twice",
    "compare labels.jsonl none.jsonl": "result: expected what precis judge --output writes",
    "compare none.jsonl labels.jsonl": "cannot read none.jsonl",
    "compare labels.jsonl labels.jsonl --calibration one.json": "got nothing; write it with precis calibrate",
    "compare a b --report a": "a is named twice",
    "summarize": "name a FILE",
    "summarize none.pdf": "none.pdf",
    "summarize none.pdf --resume a1": "name a FILE",
    "summarize --resume a1 --plan": "--plan has no effect with --resume",
    "summarize --resume a1 --words 90": "--words has no effect with --resume",
    "summarize one.txt --endpoint http://127.0.0.1:9/v1": "--endpoint and --model belong together",
    "summarize one.txt --model m": "--endpoint and --model belong together",
    "summarize one.txt --endpoint ftp://x --model m": "http:// or https://",
    f"summarize one.txt {HERE} -a h:1": "leave --address out",
    "summarize one.txt --local -a h:1": "leave --address out",
    "summarize one.txt --local --api-key-file k": "leave --api-key-file out",
}
UNREACHED = (
    "health",
    "judge labels.jsonl",
    "calibrate labels.jsonl --good-from 4",
    "assess one.json --timeout 5",
    "synthesize one.json --timeout 5",
    "summarize --resume a1",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a few files, and no server."""
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in THREE), encoding="utf-8")
    (tmp_path / "one.json").write_text('{"question": "How good?"}', encoding="utf-8")
    (tmp_path / "explain.json").write_text('{"question": "Why?", "mode": "explanation"}', encoding="utf-8")
    (tmp_path / "choices.json").write_text('{"question": "Is it?", "choices": ["yes", "no"]}', encoding="utf-8")
    (tmp_path / "labelled.json").write_text('{"evidence": {"tools": 1}}', encoding="utf-8")
    (tmp_path / "blank.txt").write_text(" \n", encoding="utf-8")
    (tmp_path / "empty.json").touch()
    (tmp_path / "binary").write_bytes(b"\x89PNG\0\xff")
    (tmp_path / "pretty.jsonl").write_text('{\n  "datum": {}\n}\n', encoding="utf-8")
    (tmp_path / "one.txt").write_text("The pump holds 40 bar.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRECIS_ADDRESS", f"127.0.0.1:{unused_port()}")
    monkeypatch.setenv("PRECIS_SUMMARY_STORAGE__DIRECTORY", str(tmp_path / "summaries"))
    monkeypatch.setenv("GRPC_VERBOSITY", "NONE")


@pytest.mark.parametrize("command", REFUSED, ids=lambda command: command[:60])
def test_what_cannot_work_is_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shlex.split(command)) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("precis: ")
    assert REFUSED[command] in line


@pytest.mark.parametrize("command", UNREACHED)
def test_a_server_that_is_down_is_said_to_be_down(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command.split()) == 3
    [line] = capsys.readouterr().err.splitlines()
    assert "precis: cannot reach 127.0.0.1:" in line
    assert "start it with `precis serve`" in line


@pytest.mark.parametrize(
    ("command", "has_traceback"), [("compare", False), ("serve", True)], ids=["one line", "the log of a server"]
)
def test_a_fault_of_ours_has_an_exit_code_of_its_own(
    command: str, *, has_traceback: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(main, "app", fail)
    monkeypatch.setenv("GRPC_VERBOSITY", "NONE")
    assert main.run([command]) == FAULT
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("precis: ZeroDivisionError: division by zero. A fault of Precis itself")
    assert (lines[0] == "Traceback (most recent call last):") == (has_traceback or sys.flags.dev_mode)


@pytest.mark.parametrize("command", ["serve", "ui", "settings", "summaries check", "llm check"])
def test_a_wrong_setting_is_one_line_without_a_password_for_every_command_that_reads_it(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PRECIS_TRACING__ENDPOINT", "http://user:sk-4@host/v1/traces")
    assert run(command.split()) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("precis: wrong settings: tracing.endpoint (PRECIS_TRACING__ENDPOINT)")
    assert "sk-4" not in line


def test_a_disk_that_is_full_is_no_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "discard_output", lambda: None)
    assert main.report(OSError(28, "No space left on device")) == CliError.exit_code
    assert capsys.readouterr().err == "precis: cannot write the output: No space left on device\n"


def test_a_package_that_an_image_leaves_out_is_no_fault_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.report(ModuleNotFoundError("No module named 'onnx'", name="onnx")) == CliError.exit_code
    assert "needs the Python package onnx" in capsys.readouterr().err
