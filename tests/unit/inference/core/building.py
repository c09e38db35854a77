"""Builds the compiled core from its sources, as they are now, with the flags of pyproject.toml."""

import hashlib
import os
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from inference.core.library import CoreLibrary

ROOT = Path(__file__).parents[4]
SOURCES = ROOT / "inference" / "core" / "csrc"
BUILD = ROOT / "build" / "core"  # git ignores it
# Without optimization: the checks of unrolled loops would take minutes to compile.
SANITIZERS = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def flags() -> list[str]:
    """Flags of the extension module."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    (module,) = settings["ext-modules"]
    return list(module["extra-compile-args"])


def compiled(*arguments: str, sources: tuple[Path, ...] = (), suffix: str = ".so", compiler: str | None = None) -> Path:
    """Compiles the core, once for each state of the sources; skips the test where there is no compiler."""
    compiler = compiler or shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler")
    files = sorted(SOURCES.glob("*.[ch]"))
    digest = hashlib.sha256(repr((compiler, arguments, flags())).encode())
    for file in (*files, *sources):
        digest.update(file.read_bytes())
    target = BUILD / f"{digest.hexdigest()[:16]}{suffix}"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}")
        units = [str(file) for file in (*files, *sources) if file.suffix == ".c" and file.name != "module.c"]
        command = [compiler, *flags(), *arguments, f"-I{SOURCES}", *units, "-lm", "-o", str(partial)]
        subprocess.run(command, check=True, capture_output=True)
        partial.rename(target)
    return target


@cache
def library() -> CoreLibrary:
    """The core of the sources."""
    return CoreLibrary(compiled("-shared", "-fPIC"))
