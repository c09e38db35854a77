"""The table of docs/concepts/locks.md and the rules that the formulas read are the same."""

from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import pytest

from pipeline.judge.config import LockConfig
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK, LockRules
from pipeline.judge.result import Framework

PAGE = Path(__file__).resolve().parents[5] / "docs" / "concepts" / "locks.md"
STAGES = ["raw", "part", "own", "global", "severe", "guard"]
Numbers = dict[str, tuple[Fraction | None, Fraction | None]]


def caps_rows() -> list[list[str]]:
    """Reads the rows below the heading "Caps": stage, rule, Twin-Lock, Judge-Lock, explanation."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split("\n## Caps\n")[1].split("\n\n| setting")[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line[:1] == "|"]
    return rows[2:]  # below the names of the columns and a line


def number(cell: str) -> Fraction | None:
    return None if cell == "-" else Fraction(cell)


def rules_in_code(*locks: LockRules) -> Numbers:
    names = [field.name for field in fields(LockRules) if field.name not in {"framework", "relevance_mode"}]
    values = {name: [getattr(lock, name) for lock in locks] for name in names}
    return {
        name: (None if twin is None else Fraction(twin), None if judge is None else Fraction(judge))
        for name, (twin, judge) in values.items()
    }


def test_the_page_and_the_rules_have_the_same_caps_in_the_same_order() -> None:
    written = {rule.strip("`"): (number(twin), number(judge)) for _, rule, twin, judge, _ in caps_rows()}
    assert list(written.items()) == list(rules_in_code(TWIN_LOCK, JUDGE_LOCK).items())
    stages = [row[0] for row in caps_rows()]
    assert stages == sorted(stages, key=STAGES.index)


def test_settings_change_the_rules_that_they_name_and_no_other() -> None:
    assert LockConfig().rules_of(Framework.TWIN_LOCK) == TWIN_LOCK
    assert LockConfig().rules_of(Framework.JUDGE_LOCK) == JUDGE_LOCK
    config = LockConfig(correct_questions_needed=7, twin_safeguards=True)
    before = rules_in_code(TWIN_LOCK, JUDGE_LOCK)
    after = rules_in_code(*(config.rules_of(framework) for framework in (Framework.TWIN_LOCK, Framework.JUDGE_LOCK)))
    changed = {name: numbers for name, numbers in after.items() if numbers != before[name]}
    assert changed == {
        "correct_questions": (None, 7),
        "severe_alignment": (3, 3),
        "perfect_score": (Fraction(19, 2), Fraction(19, 2)),
        "perfect_spans": (5, 5),
        "perfect_guard": (9, 9),
    }


@pytest.mark.parametrize("framework", [Framework.TWIN_LOCK, Framework.JUDGE_LOCK])
def test_rules_name_their_lock(framework: Framework) -> None:
    assert LockConfig(twin_safeguards=True).rules_of(framework).framework is framework
