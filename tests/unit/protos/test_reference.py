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

ERROR_ROW = re.compile(r"^\| ([A-Z_]+) \| `([A-Z_]+)` \| (\d+) \| `(\w+)` \|", re.MULTILINE)


def test_the_generated_pages_are_fresh() -> None:
    pages = generated_pages()
    stale = [name for name, text in pages.items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run python -m scripts.reference and commit what it writes"
    assert {path.name for path in (FOLDER / "protos").iterdir()} == {Path(name).name for name in pages if "/" in name}


def test_every_status_of_the_code_has_a_row_with_its_http_status_and_class() -> None:
    rows = ERROR_ROW.findall((FOLDER / "errors.md").read_text(encoding="utf-8"))
    rules = {*STATUS_RULES.values(), INTERNAL}
    raised = {rule: type(error_of(RichStatus(rule.code, "", reason=rule.reason))).__name__ for rule in rules}
    wanted = {(rule.code.name, rule.reason, str(HTTP_CODES.get(rule.code, 500)), raised[rule]) for rule in rules}
    assert set(rows) == wanted
    assert len(rows) == len(wanted)


@pytest.mark.parametrize(
    ("comment", "markdown"), [("2 * x < 3, `a * <b>`", "2 \\* x &lt; 3, `a * <b>`"), ("max_claims", "max_claims")]
)
def test_stars_and_angles_are_no_markdown(comment: str, markdown: str) -> None:
    assert escaped(comment) == markdown
