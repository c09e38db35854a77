"""The rooms and the direction of imports between them (README, "How it is laid out").

The rules are read from the source, so that an import inside a function counts as well.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("inference", "pipeline", "protos", "server")

# importer -> what it must not import. A name stands for itself and everything below it.
FORBIDDEN = {
    "protos": ("inference", "pipeline", "server", "google.rpc", "grpc_status", "grpc_health"),  # only what it installs
    "pipeline": ("inference", "precis", "server", "grpc", "google.protobuf", "onnxruntime"),
    "inference": ("pipeline", "precis", "server", "grpc", "google.protobuf", "langgraph"),
    "server": ("onnxruntime", "onnx", "langgraph"),
}
# Ahead of time only: the part of `inference` that runs in the served process stays free of it.
COMPILER = ROOT / "inference" / "compile"
FORBIDDEN_AT_RUN_TIME = ("inference.compile", "onnx", "torch", "transformers", "optimum", "safetensors")
FORBIDDEN_IN_SERVED_PROCESS = ("mlflow", "torch", "transformers", "optimum", "onnx", "sklearn", "inference.compile")

TOP_LEVEL = {
    *("pyproject.toml", "protos", "server", "inference", "pipeline", "tests", "scripts", "README.md"),
    *("CHANGELOG.md", "LICENSE", ".ci", ".gitignore", "docs"),
}


def source_files(package: str) -> list[Path]:
    """Lists the handwritten modules of a package."""
    return [path for path in sorted((ROOT / package).rglob("*.py")) if "_pb2" not in path.name]


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line and dotted name of everything a file imports, wherever the statement stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from inference import compile` names a module too.
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def is_within(module: str, names: tuple[str, ...]) -> bool:
    """Tells whether a dotted name is one of `names` or below one of them."""
    return any(module == name or module.startswith(f"{name}.") for name in names)


def violations(files: list[Path], forbidden: tuple[str, ...]) -> list[str]:
    """Lists the forbidden imports of some files as "path:line imports name"."""
    return [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files
        for line, module in imported_modules(path)
        if is_within(module, forbidden)
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_modules_to_check(package: str) -> None:
    assert len(list((ROOT / package).rglob("*.py"))) > 1


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_from_the_server_inwards(package: str) -> None:
    assert violations(source_files(package), FORBIDDEN[package]) == []


def test_the_inference_runtime_does_not_import_the_compiler() -> None:
    runtime = [path for path in source_files("inference") if not path.is_relative_to(COMPILER)]
    assert violations(runtime, FORBIDDEN_AT_RUN_TIME) == []


def test_an_import_inside_a_function_is_found(tmp_path: Path) -> None:
    module = tmp_path / "late.py"
    module.write_text("def f():\n    from inference import compile\n    import onnx.helper\n", encoding="utf-8")
    found = [name for _, name in imported_modules(module)]
    assert found == ["inference.compile", "onnx.helper"]
    assert all(is_within(name, FORBIDDEN_AT_RUN_TIME) for name in found)


def test_a_longer_name_is_not_taken_for_a_shorter_one() -> None:
    assert not is_within("onnxruntime", ("onnx",))


def test_the_served_process_loads_no_training_or_export_library() -> None:
    listing = "import sys, server.app; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", listing], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "server.app" in loaded
    assert [name for name in loaded if is_within(name, FORBIDDEN_IN_SERVED_PROCESS)] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked archive has no list of committed files")
def test_the_top_level_holds_nothing_else() -> None:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    committed = {path.split("/", 1)[0] for path in listing.stdout.split("\0") if path}
    assert committed - TOP_LEVEL == set()
