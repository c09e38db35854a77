import json

import pytest

from scripts.benchmarks.shared.report import Report, Target


def report(**figures: float | None) -> Report:
    return Report("title", ("load", "rate"), [["one", "1.0"]], figures, [Target("speedup", 1.0)])


def test_the_last_line_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    report(speedup=1.23456789, missing=None).show()
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"speedup": 1.23457, "missing": None}


@pytest.mark.parametrize(("value", "verdict"), [(1.0, "met"), (0.999, "missed")])
def test_a_figure_is_compared_with_its_target(value: float, verdict: str, capsys: pytest.CaptureFixture[str]) -> None:
    report(speedup=value).show()
    assert verdict in capsys.readouterr().out


def test_a_figure_that_was_not_measured_does_not_count_as_met(capsys: pytest.CaptureFixture[str]) -> None:
    report(speedup=None).show()
    assert "not measured" in capsys.readouterr().out


def test_a_busy_machine_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    report(speedup=1.0, cpu_share=0.6).show()
    assert "Other processes took 40% of the CPU" in capsys.readouterr().out
