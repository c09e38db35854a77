"""Labelled rows: labels, annotators, and errors that name line and field."""

import json
import math
from pathlib import Path

import pytest

from server.cli import files
from server.cli.agreement.calibrate import digest_of, read_labels, to_labelled
from server.cli.commands.agreement import CalibrateOptions, CompareOptions
from server.cli.errors import InputError


def row(number: int, label: object, **fields: object) -> dict[str, object]:
    return {"id": f"row {number}", "source": f"Source {number}.", "summary": "Summary.", "label": label, **fields}


def written(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def test_rows_become_arrays_in_order_of_their_ids(tmp_path: Path) -> None:
    rows = read_labels(written(tmp_path, row(2, 0), row(1, label=True), row(3, 1, source="Source 1.")), is_binary=True)
    found = to_labelled(rows, [1.0, 2.0, 3.0], CalibrateOptions().is_good)
    assert [one.item.id for one in rows] == ["row 1", "row 2", "row 3"]
    assert found.good.tolist() == [True, False, True]
    assert found.groups[0] == found.groups[2] != found.groups[1]
    assert set(found.groups.tolist()) == {0, 1}


def test_annotators_stand_in_a_list_or_by_name_and_may_be_absent(tmp_path: Path) -> None:
    path = written(tmp_path, row(1, [1, 0, 1]), row(2, [None, 1, None]), row(3, {"annotator 2": 0, "ann": 1}))
    rows = read_labels(path, is_binary=True)
    found = to_labelled(rows, [1.0, 2.0, 3.0], CalibrateOptions().is_good)
    assert [one.label for one in rows] == pytest.approx([2 / 3, 1, 0.5])
    assert found.good.tolist() == [True, True, False]  # half is no majority
    assert found.ratings.shape == (3, 4)  # in order of their names: ann, annotator 1, 2, 3
    assert [math.isnan(value) for value in found.ratings[1]] == [True, True, False, True]
    assert found.ratings[2, 0] == 1


def test_other_labels_are_good_from_one_on(tmp_path: Path) -> None:
    path = written(tmp_path, row(1, 3), row(2, 3.5), row(3, 5))
    rows = read_labels(path, is_binary=False)
    is_good = CalibrateOptions(good_from=3.5).is_good
    assert to_labelled(rows, [0.0] * 3, is_good).good.tolist() == [False, True, True]
    for value in ("NaN", "1e999", "9" * 400):
        path.write_text('{"source": "S", "summary": "S", "label": ' + value + "}", encoding="utf-8")
        with pytest.raises(InputError, match="label: expected a number, got"):
            read_labels(path, is_binary=False)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row(2, 3), "label: expected 0 or 1, got 3; for other labels give --good-from"),
        (row(2, 0.5), "label: expected 0 or 1, got 0.5"),
        (row(2, "good"), "label: expected 0 or 1, got str"),
        (row(2, None), "label: expected 0 or 1, got nothing"),
        (row(2, [1, 7]), r"label\[annotator 2\]: expected 0 or 1, got 7"),
        (row(2, {"ann": math.nan}), r"label\[ann\]: expected 0 or 1, got nan"),
        (row(2, [None]), "label: expected at least one"),
        (row(2, [0] * 51), "label: more than 50 annotators"),
        (row(2, 1, source=3), "source: expected a text, got int"),
        (row(2, 1, summary=" \n..."), "summary: expected a text with a letter or a digit"),
        (row(1, 1), "id: the same as in line 1"),
        ([1], "expected a JSON object"),
    ],
)
def test_a_bad_row_is_named_by_line_and_field(tmp_path: Path, bad: object, message: str) -> None:
    path = written(tmp_path, row(1, 1), bad)
    with pytest.raises(InputError, match=f"{path}: line 2: {message}"):
        read_labels(path, is_binary=True)


def test_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, *(row(number, 1) for number in range(5)))
    for name, limit, message in (
        ("MAX_ROWS", 4, "line 5: more than 4 rows"),
        ("MAX_LINE_BYTES", 50, "line 1 is longer than 50 bytes"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(files, name, limit)
            with pytest.raises(InputError, match=message):
                read_labels(path, is_binary=True)
    assert len(read_labels(path, is_binary=True)) == 5
    with pytest.raises(InputError, match="holds no rows"):
        read_labels(written(tmp_path), is_binary=True)


def test_the_digest_knows_texts_labels_and_limit_and_not_the_order(tmp_path: Path) -> None:
    first, second = row(1, 1), row(2, 0)
    digests = [
        digest_of(read_labels(written(tmp_path, *rows), is_binary=True), None)
        for rows in (
            (first, second),
            (second, first),
            (first, {**second, "label": 1}),
            (first, {**second, "source": "x"}),
        )
    ]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
    rows = read_labels(written(tmp_path, first, second), is_binary=True)
    assert digest_of(rows, 1.0) != digests[0]


def test_the_lenient_policy_goes_with_hallucination_alone() -> None:
    assert CompareOptions(policy="lenient").policy == "lenient"
    with pytest.raises(InputError, match="not coverage"):
        CompareOptions(metric="coverage", policy="lenient")
