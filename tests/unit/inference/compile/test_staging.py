"""Rules of replacing a model directory."""

import threading
from pathlib import Path

from inference.compile.staging import locked, staged


def test_a_finished_block_puts_the_new_folder_in_place(tmp_path: Path) -> None:
    target = tmp_path / "nli"
    for content in ("one", "two"):
        with locked(tmp_path), staged(target) as folder:
            (folder / "file").write_text(content)
            assert not (target / "file").exists() or (target / "file").read_text() != content
        assert (target / "file").read_text() == content
    assert _visible_and_hidden(tmp_path) == [".lock", "nli"]


def test_what_a_killed_install_left_is_removed_by_the_next(tmp_path: Path) -> None:
    leftover = tmp_path / ".nli.partial-killed"
    leftover.mkdir()
    (leftover / "model.onnx").write_text("half")
    with locked(tmp_path), staged(tmp_path / "nli") as folder:
        (folder / "file").write_text("new")
    assert _visible_and_hidden(tmp_path) == [".lock", "nli"]


def test_a_second_install_waits_for_the_first(tmp_path: Path) -> None:
    order: list[str] = []
    inside = threading.Event()

    def second() -> None:
        inside.wait()
        with locked(tmp_path):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with locked(tmp_path):
        inside.set()
        thread.join(timeout=0.05)  # lets the second reach the lock
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def _visible_and_hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
