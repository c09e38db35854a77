"""Several files and folders as one document."""

from pathlib import Path

import pytest

from pipeline.reading.blocks import BlockKind, read_blocks
from server.cli.errors import InputError
from server.cli.main import app
from server.cli.summarize import source
from server.cli.summarize.source import list_files, read_document
from tests.pdf import make_pdf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Chapters, a note below, and what is no document."""
    root = tmp_path / "manual"
    (root / "notes").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "chapter 10.md").write_text("# Stop\n\n```\n# comment\n```\n\nThe pump stops.")
    (root / "chapter 2.pdf").write_bytes(make_pdf("The pump starts.", "It runs."))
    (root / "notes" / "a.txt").write_text("Take gloves.")
    (root / "notes" / "empty.txt").write_text(" ")
    (root / "photo.jpg").write_bytes(b"\xff\xd8")
    (root / ".git" / "b.txt").write_text("hidden")
    return root


def test_a_folder_is_one_document_with_file_names_as_headings(folder: Path) -> None:
    document = read_document([folder])
    assert (document.name, len(document.chunks)) == ("manual", 0)
    assert document.text == (
        "## chapter 2.pdf\n\nThe pump starts.\n\nIt runs.\n\n"
        "## chapter 10.md\n\n### Stop\n\n```\n# comment\n```\n\nThe pump stops.\n\n"
        "## notes/a.txt\n\nTake gloves."
    )


def test_files_keep_the_order_in_which_they_are_named(folder: Path) -> None:
    document = read_document([folder / "notes" / "a.txt", folder / "chapter 10.md", folder / "notes" / "a.txt"])
    assert document.name == "a.txt and 1 more"
    assert [line for line in document.text.splitlines() if line.startswith(("# ", "## "))] == [
        *("## notes/a.txt", "## chapter 10.md", "# comment")
    ]
    blocks = read_blocks(document.text)
    headings = [document.text[block.start : block.end] for block in blocks if block.kind is BlockKind.HEADING]
    assert headings == ["notes/a.txt", "chapter 10.md", "Stop"]


def test_a_page_break_of_a_text_begins_no_page_among_several_files(folder: Path) -> None:
    (folder / "notes" / "a.txt").write_text("One.\fTwo.")
    assert "\f" not in read_document([folder]).text


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    assert len(list_files([folder])) == 4


def test_files_of_other_kinds_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(7):
        (folder / f"picture-{number}.png").write_bytes(b"png")
    assert len(list_files([folder])) == 4
    told = capsys.readouterr().err
    assert "photo.jpg, picture-0.png, picture-1.png, picture-2.png, picture-3.png and 3 more." in told


def test_a_folder_without_documents_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no file that ends in \.adoc"):
        read_document([tmp_path])


def test_standard_input_stands_alone(folder: Path) -> None:
    with pytest.raises(InputError, match="- stands alone"):
        read_document([Path("-"), folder])


def test_more_files_than_the_bound_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_FILES", 2)
    with pytest.raises(InputError, match="more than 2 files"):
        read_document([folder])


@pytest.mark.parametrize("output", ["--output={0}/chapter 10.md", "--report={0}/notes/a.txt", "--layers={0}"])
def test_what_is_read_is_never_written_over(folder: Path, output: str) -> None:
    (folder / "summary.md").write_text("Kept.")
    with pytest.raises(InputError, match="it would be written over"):
        app(["summarize", str(folder), output.format(folder)], standalone_mode=False)
    assert (folder / "summary.md").read_text() == "Kept."
