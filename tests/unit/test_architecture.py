"""The rooms and the direction of imports between them (CONTRIBUTING.md).

The rules are read from the source, so that an import inside a function counts as well.
"""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.structure import (
    CLIENT,
    PACKAGES,
    ROOT,
    Modules,
    find_circle,
    import_graph,
    imported_names,
    read_modules,
    repeated_classes,
    repeated_names,
)

# importer -> what it must not import. A name stands for itself and everything below it.
FORBIDDEN = {
    "protos": ("inference", "pipeline", "server", "google.rpc", "grpc_status", "grpc_health"),  # only what it installs
    "pipeline": ("inference", "precis", "server", "grpc", "google.protobuf", "onnxruntime"),
    "inference": ("pipeline", "precis", "server", "grpc", "google.protobuf", "langgraph"),
    "server": ("onnxruntime", "onnx", "langgraph"),
    "pipeline/reading": ("pipeline.support", "pipeline.judge", "pipeline.evaluate", "pipeline.summarize"),
    "pipeline/support": ("pipeline.judge", "pipeline.evaluate", "pipeline.summarize", "pipeline.assess"),
    "pipeline/judge": ("pipeline.evaluate", "pipeline.summarize", "pipeline.assess"),
    "pipeline/evaluate": ("pipeline.judge", "pipeline.summarize", "pipeline.assess"),
    "pipeline/summarize": ("pipeline.judge", "pipeline.evaluate", "pipeline.assess"),
}
# Ahead of time only: the part of `inference` that runs in the served process stays free of it.
COMPILER = ROOT / "inference" / "compile"
FORBIDDEN_AT_RUN_TIME = ("inference.compile", "onnx", "torch", "transformers", "optimum", "safetensors")
FORBIDDEN_IN_SERVED_PROCESS = (*FORBIDDEN_AT_RUN_TIME, "mlflow", "onnxruntime", "sklearn")

TOP_LEVEL = {
    *("pyproject.toml", "protos", "server", "inference", "pipeline", "tests", "scripts", "README.md"),
    *("CODE_OF_CONDUCT.md", "CONTRIBUTING.md", ".github"),
    *("CHANGELOG.md", "LICENSE", "SECURITY.md", "uv.lock", ".ci", ".gitignore", "deploy", "docs", "examples"),
}

NO_DATA = {".py", ".md", ".so"}  # READMEs of rooms are for who reads the code; extension modules are built

# Module names that may stand more than once in a package, and why.
EVERY_ROOM_HAS_ONE = {"config", "errors", "tracing", "run", "table", "request", "result"}
SAME_THING = {
    "server": {
        # a command of the command line, what it runs, and the service that it calls
        *("evaluate", "judge", "models", "probe", "serve", "summarize"),
        "files",  # what commands read and write: of all, of evaluations
        "bulk",  # many items of a file: of all commands, of the judge's report
    },
    "pipeline": {
        "writer",  # the interface, and its two implementations
        "score",  # of a framework: the locks, Ultra
        "plan",  # what is computed, decided before it is: evaluation, evidence, summary
        "ask",  # one answer of a language model: of any, of the synthesis
        "proposals",  # of any author, of the language model
        "document",  # a text as read; what a caller asks to have summarized
        *("texts", "tools", "values"),  # different things; better names are wanted
    },
}


def source_files(package: str) -> list[Path]:
    """Lists the handwritten modules of a package."""
    return [path for path in sorted((ROOT / package).rglob("*.py")) if "_pb2" not in path.name]


def is_within(module: str, names: tuple[str, ...]) -> bool:
    """Tells whether a dotted name is one of `names` or below one of them."""
    return any(module == name or module.startswith(f"{name}.") for name in names)


def violations(files: list[Path], forbidden: tuple[str, ...]) -> list[str]:
    """Lists the forbidden imports of some files as "path:line imports name"."""
    return [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files
        for line, module in imported_names(ast.parse(path.read_text(encoding="utf-8")))
        if is_within(module, forbidden)
    ]


@pytest.mark.parametrize("package", FORBIDDEN)
def test_every_package_has_modules_to_check(package: str) -> None:
    assert len(list((ROOT / package).rglob("*.py"))) > 1


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_from_the_server_inwards(package: str) -> None:
    assert violations(source_files(package), FORBIDDEN[package]) == []


def test_the_inference_runtime_does_not_import_the_compiler() -> None:
    runtime = [path for path in source_files("inference") if not path.is_relative_to(COMPILER)]
    assert violations(runtime, FORBIDDEN_AT_RUN_TIME) == []


def test_an_import_inside_a_function_is_found() -> None:
    tree = ast.parse("def f():\n    from inference import compile\n    import onnx.helper\n")
    found = [name for _, name in imported_names(tree)]
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


def test_every_file_that_a_package_reads_is_in_its_distribution() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    shipped = {path for name, globs in patterns.items() for one in globs for path in package_folder(name).glob(one)}
    data = {
        path
        for package in ("inference", "pipeline", "server")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in NO_DATA and "__pycache__" not in path.parts
    }
    assert data - shipped == set()
    assert all(any(package_folder(name).glob(one)) for name, globs in patterns.items() for one in globs)


def package_folder(name: str) -> Path:
    return ROOT.joinpath(*name.split("."))


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked archive has no list of committed files")
def test_the_top_level_holds_nothing_else() -> None:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    committed = {path.split("/", 1)[0] for path in listing.stdout.split("\0") if path}
    assert committed - TOP_LEVEL == set()


def write_modules(root: Path, sources: dict[str, str]) -> Modules:
    """Writes modules of a package `room` and reads them back."""
    for path, source in sources.items():
        file = root / "room" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    return read_modules(["room"], root)


def unexplained_names(modules: Modules) -> dict[tuple[str, str], list[str]]:
    """Returns the repeated names, by package and name, that no list above has."""
    repeated = repeated_names(modules).items()
    return {key: places for key, places in repeated if key[1] not in EVERY_ROOM_HAS_ONE | SAME_THING.get(key[0], set())}


@pytest.fixture(scope="module")
def modules() -> Modules:
    return read_modules()


def test_a_class_has_a_name_of_its_own(modules: Modules) -> None:
    assert repeated_classes(modules) == {}


def test_a_class_name_that_stands_twice_is_found(tmp_path: Path) -> None:
    source = "class Plan: ...\nclass _Private: ...\n"
    modules = write_modules(tmp_path, {"one.py": source, "folder/two.py": source})
    assert {name: set(places) for name, places in repeated_classes(modules).items()} == {
        "Plan": {"room.one", "room.folder.two"}
    }


def test_a_module_name_repeats_for_a_reason(modules: Modules) -> None:
    assert unexplained_names(modules) == {}


def test_a_module_name_that_stands_twice_is_found(tmp_path: Path) -> None:
    modules = write_modules(tmp_path, {"claim.py": "A = 1\n", "folder/claim.py": "A = 1\n"})
    assert set(unexplained_names(modules)) == {("room", "claim")}


def test_imports_make_no_circle() -> None:
    graph = import_graph(read_modules((*PACKAGES, CLIENT)))
    assert find_circle(graph) == []


def test_a_circle_is_found_and_a_late_import_makes_none(tmp_path: Path) -> None:
    sources = {"one.py": "from room.two import A\n", "two.py": "def f():\n    import room.one\n"}
    modules = write_modules(tmp_path, sources)
    assert find_circle(import_graph(modules)) == []
    assert set(find_circle(import_graph(modules, late=True))) == {"room.one", "room.two"}
