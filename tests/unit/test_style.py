"""The countable part of the style guide: sizes, names that say nothing, documents that exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.prose import measure, read_texts
from scripts.structure import PACKAGES, ROOT

FOLDERS = ("inference", "pipeline", "protos", "server", "scripts", "tests")
MODULES = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if "_pb2" not in path.name and "build" not in path.relative_to(ROOT).parts  # what `pip install ./protos` leaves
)
MAX_BODY_LINES = 40
MAX_SENTENCE_WORDS = 25
PUBLIC_PACKAGE = ROOT / "protos" / "precis" / "__init__.py"  # what people install: it holds the names that they use
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}

ROOMS = (
    *("inference", "pipeline/agreement", "pipeline/assess", "pipeline/evaluate", "pipeline/judge", "pipeline/llm"),
    *("pipeline/summarize", "pipeline/summarize/extractive", "pipeline/reading", "pipeline/support", "server"),
    "server/cli",
)
TOP_FOLDERS = "deploy|examples|inference|pipeline|protos|scripts|server|tests"
FILE_NAME = re.compile(rf"`((?:[\w.-]+/)*[\w-]+\.(?:py|md|proto|html|css|js)|(?:{TOP_FOLDERS})/[\w./-]+)`")
# Documents and specifications that are not in the repository; a rule stands beside its code instead.
OUTSIDE = re.compile(r"\b(?:SCORING|SUMMARIZE|SERVING|MODELS)\.md\b|\bseed 00\d|\bthe seed's\b")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Counts the lines of the body; signature and docstring, which for a command are its manual, do not count."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_a_function_fits_a_screen() -> None:
    lengths = {
        f"{name(path)}:{function.lineno} {function.name}": body_lines(function)
        for path in MODULES
        for function in functions(path)
    }
    assert {place: length for place, length in lengths.items() if length > MAX_BODY_LINES} == {}


def test_package_files_are_empty() -> None:
    packages = [path for path in MODULES if path.name == "__init__.py" and path != PUBLIC_PACKAGE]
    assert [name(path) for path in packages if path.stat().st_size] == []


def test_no_module_has_an_empty_name() -> None:
    assert [name(path) for path in MODULES if path.stem in EMPTY_NAMES] == []


def test_a_docstring_does_not_count_and_code_does() -> None:
    (function,) = ast.parse('def f(\n    a,\n):\n    """One.\n\n    Two.\n    """\n    b = a\n    return b\n').body
    assert isinstance(function, ast.FunctionDef)
    assert body_lines(function) == 2


def test_sentences_of_docstrings_and_comments_are_short() -> None:
    paths = [path for path in (*MODULES, *(ROOT / "protos").rglob("*.proto")) if not name(path).startswith("tests/")]
    measured = [(name(path), measure(text)) for path in paths for text in read_texts(path)]
    long = [(path, prose.sentence) for path, prose in measured if prose.sentence_words > MAX_SENTENCE_WORDS]
    assert long == []


def missing_files(path: Path, root: Path) -> list[str]:
    """Lists the files that a document names and that lie neither beside it, nor in its room, nor in the repository.

    A room is a folder with a README. A module may be named without its `.py` when the name begins at the root.
    """
    folders = [folder for folder in path.parents if folder.is_relative_to(root)]
    room = next((folder for folder in folders if (folder / "README.md").exists()), root)
    names = FILE_NAME.findall("\n".join(read_texts(path)))
    places = {name: [folder / name for folder in (path.parent, room, root)] + [root / f"{name}.py"] for name in names}
    return [name for name, paths in places.items() if not any(place.exists() for place in paths)]


def cited_outside(text: str) -> list[str]:
    return [found.group() for found in OUTSIDE.finditer(text)]


def test_a_file_that_a_docstring_or_readme_names_exists() -> None:
    documents = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.suffix in {".py", ".md"}]
    missing = {name(path): missing_files(path, ROOT) for path in documents if "_pb2" not in path.name}
    assert {path: names for path, names in missing.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`near.py`, `README.md` and `room/folder/near.py`", []),
        ("`room/folder/near`, `model.onnx` and near.py", []),
        ("`far.py`", ["far.py"]),
        ("`server/far`", ["server/far"]),
    ],
)
def test_a_file_is_looked_for_in_the_folder_the_room_and_the_root(
    tmp_path: Path, text: str, missing: list[str]
) -> None:
    folder = tmp_path / "room" / "folder"
    folder.mkdir(parents=True)
    (tmp_path / "room" / "README.md").touch()
    (folder / "near.py").touch()
    module = folder / "module.py"
    module.write_text(f'"""{text}"""\nTEXT = "`absent.py`"\n', encoding="utf-8")
    assert missing_files(module, tmp_path) == missing


def test_the_code_cites_nothing_outside_the_repository() -> None:
    texts = [*MODULES, *(ROOT / "protos").rglob("*.proto"), *(ROOT / room / "README.md" for room in ROOMS)]
    cited = {name(path): cited_outside(path.read_text(encoding="utf-8")) for path in texts if path != Path(__file__)}
    assert {path: found for path, found in cited.items() if found} == {}


def test_a_citation_is_found_and_a_word_of_the_code_is_not() -> None:
    assert cited_outside("see SCORING.md, seed 007, and the seed's order") == ["SCORING.md", "seed 007", "the seed's"]
    assert cited_outside("Mode.SCORING, a seed 0, the seeds of MODELS") == []


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_readme(room: str) -> None:
    assert (ROOT / room / "README.md").read_text(encoding="utf-8").startswith("# ")
