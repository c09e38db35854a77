"""The files of words."""

from collections import Counter
from pathlib import Path

import pytest

from pipeline.reading import word_lists
from pipeline.reading.word_lists import any_of, phrase_list, word_list

FOLDER = Path(word_lists.__file__).parent / "data"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))
ROOT = FOLDER.parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_a_list_names_its_source_and_repeats_no_line(name: str) -> None:
    assert (FOLDER / f"{name}.txt").read_text("utf-8").startswith("# source: ")
    assert [line for line, count in Counter(phrase_list(name)).items() if count > 1] == []
    assert word_list(name)


def test_every_list_has_a_reader() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "pipeline").rglob("*.py"))
    assert [name for name in NAMES if f'"{name}"' not in code and f"'{name}'" not in code] == []


def test_words_are_split_at_white_space_and_phrases_at_lines() -> None:
    assert {"the", "of"} <= word_list("shared_words")
    assert "date rape" in phrase_list("no_profanity_phrases")
    assert any_of("contempt_animals") == "(?:animals|pig|pigs|rat|rats)"
