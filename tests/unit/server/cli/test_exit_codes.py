"""What nobody expected never looks like an answer."""

import sys

import pytest

from server.cli import main
from server.cli.errors import FAULT, CliError


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


def test_a_disk_that_is_full_is_no_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "discard_output", lambda: None)
    assert main.report(OSError(28, "No space left on device")) == CliError.exit_code
    assert capsys.readouterr().err == "precis: [Errno 28] No space left on device\n"
