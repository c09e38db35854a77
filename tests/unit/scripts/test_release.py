"""What releases are made of: the notes of a version, and workflows that run nothing that could change under them."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def notes_of(version: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "scripts" / "release_notes", version], capture_output=True, text=True, check=False)


def test_this_version_has_notes_and_every_file_names_it() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    ended = notes_of(version)
    assert (ended.returncode, ended.stderr) == (0, "")
    first, *rest = ended.stdout.splitlines()
    assert first.startswith(f"## [{version}]")
    assert not [line for line in rest if line.startswith("## ")]


def test_a_version_that_no_file_names_is_refused() -> None:
    ended = notes_of("9.9.9")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "pyproject.toml has no line" in ended.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_uses_pinned_actions_and_runs_files_that_there_are(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []
    named = re.findall(r"(?:^|\s)((?:\.ci|scripts|deploy)/[\w./]+)", "\n".join(step.get("run", "") for step in steps))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
