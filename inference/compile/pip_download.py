"""Runs `pip download` for one pinned wheel, with bounded time and visible progress."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import IO, Protocol

from inference.compile.errors import WheelError
from inference.compile.progress import Progress, ProgressEvent

_RETRIES = 3  # pip's own, with its backoff, per connection
_READ_TIMEOUT_S = 30  # without a byte from the index
_TOTAL_TIMEOUT_S = 1800.0  # 83 MB at 50 kB/s
_RAW_PROGRESS_SINCE = (24, 1)  # Python 3.11 and 3.12 still bundle an older pip, which refuses the option
_PROGRESS_LINE = re.compile(r"Progress (\d+) of (\d+)")  # what `--progress-bar raw` prints


class Download(Protocol):
    """Fetches one requirement's wheel into a folder."""

    def __call__(self, requirement: str, folder: Path, progress: Progress, /) -> None:
        """Raises WheelError when the wheel is not to be had."""


def pip_download(requirement: str, folder: Path, progress: Progress, /) -> None:
    """Downloads a pinned wheel into `folder`, from wherever the user's pip is configured to look.

    Nothing is installed: no dependency is fetched and no code of the package runs.

    Raises:
        WheelError: pip failed or took longer than half an hour; with the last line pip wrote.
    """
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(  # noqa: S603  # our own interpreter and a pinned requirement
            _command(requirement, folder), stdout=subprocess.PIPE, stderr=complaints, text=True
        )
        timer = threading.Timer(_TOTAL_TIMEOUT_S, process.kill)
        timer.start()
        try:
            _report(requirement, process.stdout or (), progress)
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()  # an interrupted install leaves no pip behind
            process.wait()
        if code != 0:
            raise WheelError(requirement, _explain(complaints, code))


def _command(requirement: str, folder: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--no-cache-dir", "--disable-pip-version-check", "--no-input"),
        *("--progress-bar", progress_bar(metadata.version("pip"))),
        *("--retries", str(_RETRIES), "--timeout", str(_READ_TIMEOUT_S)),
        *("--dest", str(folder), requirement),
    ]


def progress_bar(pip_version: str) -> str:
    """Chooses pip's progress output: lines that can be parsed where this pip writes them, else none."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", pip_version)[:2])
    return "raw" if numbers >= _RAW_PROGRESS_SINCE else "off"


def _report(requirement: str, output: Iterable[str], progress: Progress) -> None:
    """Turns pip's progress lines into events until pip closes its output."""
    for line in output:
        if match := _PROGRESS_LINE.search(line):
            done, total = int(match[1]), int(match[2])
            progress(ProgressEvent("download", requirement, done, total or None, "bytes"))


def _explain(complaints: IO[str], code: int) -> str:
    complaints.seek(0)
    errors = [line.strip() for line in complaints if line.startswith("ERROR")]
    reason = errors[-1].removeprefix("ERROR: ") if errors else f"pip ended with code {code}"
    return (
        f"download failed: {reason}; check the network and pip's index, "
        "or give a folder that holds the wheel with --wheels-dir"
    )
