"""The reference says what the code says: generated pages are fresh, and no code, reason or status is left out."""

import re
from pathlib import Path

import pytest
from precis.errors import error_of
from precis.rich_status import RichStatus

from scripts.reference.__main__ import FOLDER, generated_pages
from scripts.reference.contract import escaped
from server.errors import INTERNAL, STATUS_RULES
from server.http.problem import HTTP_CODES

CODE_ROW = re.compile(r"^\| ([A-Z_]+) \| (\d+) \| `(\w+)` \|$", re.MULTILINE)
REASON_ROW = re.compile(r"^\| `([A-Z_]+)` \| ([A-Z_]+) \|", re.MULTILINE)


def test_the_generated_pages_are_fresh() -> None:
    pages = generated_pages()
    stale = [name for name, text in pages.items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run python -m scripts.reference and commit what it writes"
    assert {path.name for path in (FOLDER / "reference" / "protos").iterdir()} == {
        Path(name).name for name in pages if "/protos/" in name
    }


def test_every_code_and_reason_has_a_row() -> None:
    page = (FOLDER / "reference" / "errors.md").read_text(encoding="utf-8")
    rules = {*STATUS_RULES.values(), INTERNAL}
    raised = {rule.code: type(error_of(RichStatus(rule.code, ""))).__name__ for rule in rules}
    codes = sorted((code.name, str(HTTP_CODES.get(code, 500)), name) for code, name in raised.items())
    assert sorted(CODE_ROW.findall(page)) == codes
    assert sorted(REASON_ROW.findall(page)) == sorted((rule.reason, rule.code.name) for rule in rules)


@pytest.mark.parametrize(
    ("comment", "markdown"), [("2 * x < 3, `a * <b>`", "2 \\* x &lt; 3, `a * <b>`"), ("max_claims", "max_claims")]
)
def test_stars_and_angles_are_no_markdown(comment: str, markdown: str) -> None:
    assert escaped(comment) == markdown
