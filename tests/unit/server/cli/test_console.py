"""Foreign text is shown as it is, whatever is in it."""

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from server.cli import console
from server.cli.console import output_console, plain, print_error, shown, write


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("two\n lines\t here ", "two lines here"),
        ("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"),
        ("bell\x07 null\x00", "bell\ufffd null\ufffd"),
        ("\u202eright to left\u202c", "\ufffdright to left\ufffd"),
        ("\x9b31m", "\ufffd31m"),
        ("Zürich 東京 😀", "Zürich 東京 😀"),
    ],
)
def test_white_space_is_folded_and_control_characters_are_replaced(text: str, safe: str) -> None:
    assert plain(text) == safe


def test_markup_in_a_text_is_text() -> None:
    file = io.StringIO()
    Console(file=file).print(shown("[bold]not bold[/bold] [/] [link=http://x]y[/link]"))
    assert file.getvalue().strip() == "[bold]not bold[/bold] [/] [link=http://x]y[/link]"


def test_a_long_text_is_cut_with_a_sign() -> None:
    assert shown("abcdef", limit=4).plain == "abc…"
    assert shown("abcd", limit=4).plain == "abcd"


def test_a_page_that_goes_to_a_file_is_wide_and_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    console = output_console(io.StringIO())
    assert console.width == 120
    assert not console.is_terminal


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_error("first\nsecond \x1b[2J")
    assert capsys.readouterr().err == "precis: first second \ufffd[2J\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


HOSTILE = "# Pump\n\n\tit runs\r \x1b[2J\x1b]0;owned\x07 \x9b31m \u202eZürich\n"


def test_a_result_drives_no_terminal_and_is_whole_in_a_pipe_and_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, pipe, file = Terminal(), io.StringIO(), io.StringIO()
    for stream in (terminal, pipe):
        monkeypatch.setattr(sys, "stdout", stream)
        write(HOSTILE)
        write(HOSTILE, file)
    assert terminal.getvalue() == "# Pump\n\n\tit runs\ufffd \ufffd[2J\ufffd]0;owned\ufffd \ufffd31m \ufffdZürich\n"
    assert pipe.getvalue() == HOSTILE
    assert file.getvalue() == HOSTILE * 2


def test_one_function_writes_on_the_terminal() -> None:
    folder = Path(console.__file__).parent
    writers = {path.name for path in folder.rglob("*.py") if "sys.stdout" in path.read_text("utf-8")}
    assert writers == {"console.py", "main.py"}  # main opens and closes it
