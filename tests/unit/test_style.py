"""The countable part of the style guide: sizes, empty `__init__.py`, names that say nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("inference", "pipeline", "protos", "server", "scripts", "tests")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "_pb2" not in path.name)
MAX_FILE_LINES = 300
MAX_BODY_LINES = 40
PUBLIC_PACKAGE = ROOT / "protos" / "precis" / "__init__.py"  # what people install: it holds the names that they use
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


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


def test_a_file_is_short() -> None:
    lengths = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > MAX_FILE_LINES} == {}


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
