from pathlib import Path

import pytest

from pipeline.errors import InvalidInputError
from pipeline.evaluate.evaluation_file import parse_evaluation_file

QUICKSTART = Path(__file__).resolve().parents[4] / "scripts" / "data" / "quickstart.json"


def test_the_quickstart_holds_a_datum_and_three_candidates() -> None:
    file = parse_evaluation_file(QUICKSTART.read_bytes())
    assert [candidate.name for candidate in file.candidates] == ["good", "mediocre", "bad"]
    assert len(file.datum.summary.key_facts) == 12
    assert len(file.datum.summary.logical_outline) == 6
    assert len(file.datum.summary.entity_list) == 8


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("not json", "file"),
        (b"\xff\xfe", "file"),
        ("[]", ""),
        ('{"datum": {"entry": {"text": "t"}, "summary": {"summary": "s"}}, "candidates": []}', "candidates"),
        (
            '{"datum": {"entry": {"text": "t"}, "summary": {"summary": "s"}}, "candidates": [{"text": "g"}]}',
            "candidates[0].name",
        ),
        ('{"datum": {"entry": {"text": "t"}}, "candidates": [{"name": "n", "text": "g"}]}', "datum.summary"),
    ],
)
def test_a_bad_file_is_refused_with_the_path_in_it(content: str | bytes, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_evaluation_file(content)
    assert caught.value.field == field
