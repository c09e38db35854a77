"""The countable part of the style guide: sizes, empty `__init__.py`, names that say nothing."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("inference", "pipeline", "protos", "server", "scripts", "tests")
MODULES = sorted(
    path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "_pb2" not in path.name
)
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_file_is_one_screenful_of_concept(path: Path) -> None:
    assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_function_fits_a_screen(path: Path) -> None:
    too_long = [
        f"{path}:{node.lineno} {node.name} has {lines} lines"
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert too_long == []


def test_package_files_are_empty() -> None:
    assert [str(path) for path in MODULES if path.name == "__init__.py" and (ROOT / path).stat().st_size] == []


def test_no_module_has_an_empty_name() -> None:
    assert [str(path) for path in MODULES if path.stem in EMPTY_NAMES] == []
