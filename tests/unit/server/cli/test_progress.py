"""How far a command is, said in plain lines where there is no terminal. Time is the test's own."""

import pytest

from server.cli.progress import Progress, State


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_a_line_says_what_how_much_and_how_long(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(clock=clock) as progress:
        progress.update(State("judging", 0, 40))
        clock.now_s += 10
        progress.update(State("judging", 4, 40))
        progress.print_line()
        clock.now_s += 90
        progress.update(State("judging", 40, 40))
    assert lines(capsys) == ["judging: 4/40, 0:00:10 elapsed, 0:01:30 left", "judging: 40/40, 0:01:40 elapsed"]


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (State("evaluating", 3), "evaluating: 3, 0:00:05 elapsed"),
        (State("starting"), "starting: 0:00:05 elapsed"),
        (State("reviewing", 8, 8, "calls", "", 0.0), "reviewing: 8/8 calls, 0:00:05 elapsed"),
        (State("merging", 7, 8, "calls", "", 5.0), "merging: 7/8 calls, 0:00:05 elapsed"),
        (State("compile x", 1, 3, "steps"), "compile x: 1/3 steps, 0:00:05 elapsed, 0:00:10 left"),
        (State("download x", 1 << 20, 4 << 20, "bytes"), "download x: 1.0/4.0 MiB, 0:00:05 elapsed, 0:00:15 left"),
        (
            State("extracting", 2, 8, "calls", "900 tokens", 75.0),
            "extracting: 2/8 calls, 900 tokens, 0:00:05 elapsed, 0:01:10 left",
        ),
    ],
    ids=lambda value: value.what if isinstance(value, State) else "",
)
def test_what_is_not_known_is_left_out(
    clock: Clock, capsys: pytest.CaptureFixture[str], state: State, line: str
) -> None:
    progress = Progress(clock=clock)
    progress.update(state)
    clock.now_s += 5
    progress.print_line()
    assert lines(capsys) == [line]


@pytest.mark.parametrize("variables", [{}, {"TERM": "dumb"}, {"FORCE_COLOR": "1"}], ids=str)
def test_bars_are_drawn_on_terminals_alone(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert not Progress().is_drawn
