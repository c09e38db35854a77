"""The program `precis`: what it says when the server is not there, or is hidden behind a package of the same name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from precis.__main__ import PACKAGES

ROOT = Path(__file__).resolve().parents[3]


def run(*paths: Path, isolated: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs `precis --version`; without the installed packages when it is isolated."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, paths))}
    flags = ["-S"] if isolated else []
    return subprocess.run(
        [sys.executable, *flags, "-P", "-m", "precis", "--version"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def foreign(folder: Path, name: str) -> Path:
    """Writes a package that is not ours."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("raise ImportError('No module named inference_models')\n")
    return folder


def test_the_marks_of_our_packages_are_there() -> None:
    for name, module in PACKAGES.items():
        assert (ROOT / name / module).is_file()
        assert (ROOT / name / "__init__.py").stat().st_size == 0


def test_the_server_is_found_where_it_is() -> None:
    ended = run(ROOT, ROOT / "protos")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("precis ")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_hides_ours_is_named(tmp_path: Path, name: str) -> None:
    ended = run(foreign(tmp_path, name), ROOT, ROOT / "protos")
    assert ended.returncode == 4
    [line] = ended.stderr.splitlines()
    assert line.startswith(f"precis: the package `{name}` of Precis is hidden by another one of this name in ")
    assert str(tmp_path / name) in line
    assert "uv tool install . --with ./protos" in line


def test_a_package_whose_files_lie_among_ours_is_named(tmp_path: Path) -> None:
    module = foreign(tmp_path, "inference") / "inference" / PACKAGES["inference"]
    module.touch()
    assert f"{tmp_path / 'inference' / '__init__.py'}" in run(tmp_path, ROOT, ROOT / "protos").stderr


@pytest.mark.parametrize("is_hidden", [False, True])
def test_without_the_server_the_client_says_how_to_install_it(tmp_path: Path, *, is_hidden: bool) -> None:
    if is_hidden:
        foreign(tmp_path, "server")
    ended = run(tmp_path, ROOT / "protos", isolated=True)
    assert ended.returncode == 4
    problem = "the server and its commands are not installed: `pip install .` in a checkout of Precis"
    assert ended.stderr == f"precis: {problem}\n"
