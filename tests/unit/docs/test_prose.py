"""Documents are read in one go: short sentences, short cells, READMEs of a few pages."""

from pathlib import Path

import pytest

from scripts.prose import ROOT, documents, measure, read_texts, split_sentences

MAX_SENTENCE_WORDS = 30
MAX_CELL_CHARS = 120
MAX_README_WORDS = 900
MAX_FRONT_LINES = 100


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


DOCUMENTS = documents()
READMES = [path for path in DOCUMENTS if path.name == "README.md"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_sentences_and_cells_of_a_document_are_short(path: Path) -> None:
    prose = measure(path.read_text(encoding="utf-8"))
    assert prose.sentence_words <= MAX_SENTENCE_WORDS, prose.sentence
    assert len(prose.cell) <= MAX_CELL_CHARS, prose.cell


@pytest.mark.parametrize("path", READMES, ids=name)
def test_a_readme_is_a_few_pages(path: Path) -> None:
    assert measure(path.read_text(encoding="utf-8")).words <= MAX_README_WORDS


def test_the_front_page_is_a_hundred_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MAX_FRONT_LINES


def test_words_sentences_and_cells_are_measured_as_they_are_shown() -> None:
    table = "| a | b |\n|---|---|\n| **c** d | [e](f) |\n"
    text = f"# A room\n\nOne [link](a/long/target.md). Two `code spans. of` words!\n\n{table}"
    prose = measure(text)
    assert (prose.sentence, prose.cell) == ("Two code_spans._of words!", "c d")
    assert prose.words == 22


def test_docstrings_by_their_entries_and_comments_are_read(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""One\n\nArgs:\n    two: three\n        four\n    five: six\n"""\n# Seven\n# eight\nNINE = 9\n')
    assert [measure(text).sentence for text in read_texts(module)] == ["Seven eight", "two: three four"]


def test_a_sentence_ends_behind_a_stop_and_its_closing_marks() -> None:
    sentences = ["It ends (here.)", '"Does it?"', "Version 1.2 does not"]
    assert split_sentences(" ".join(sentences)) == sentences


def test_the_figures_of_the_front_page_are_those_of_validation() -> None:
    front, validation = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/validation.md"))
    rows = [line.rstrip("| ") for line in front.split("## How good are the scores?")[1].splitlines() if "| ." in line]
    assert len(rows) == 3
    assert [row for row in rows if row not in validation] == []
