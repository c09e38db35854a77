import json

import pytest

from scripts.benchmarks.shared.report import Figure, Report, Target


def shown(capsys: pytest.CaptureFixture[str], **figures: Figure) -> str:
    targets = [Target("speedup", 1.0), Target("ratio", 1.1, at_least=False)]
    named = [target for target in targets if target.key in figures]
    Report("title", ("load", "rate"), [["one", "1.0"]], figures, named).show()
    return capsys.readouterr().out


def test_the_last_line_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    line = shown(capsys, speedup=1.23456789, missing=None).splitlines()[-1]
    assert json.loads(line) == {"speedup": 1.23457, "missing": None}


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"speedup": 1.0}, "met"),
        ({"speedup": 0.999}, "missed"),
        ({"speedup": None}, "not measured"),
        ({"ratio": {"8": 1.0, "64": 1.23456789}}, "missed"),  # the worst of several
        ({"speedup": 1.0, "cpu_share": 0.6}, "Other processes took 40% of the CPU"),
    ],
)
def test_figures_are_compared_with_their_targets_and_a_busy_machine_is_told(
    figures: dict[str, Figure], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in shown(capsys, **figures)
