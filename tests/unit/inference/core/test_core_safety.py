"""Nothing from outside makes the core read or write where it must not."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from inference.core.library import CoreBatch, CoreRunError, InstructionSet, Status
from inference.core.packed_file import ROW_BITS, Rows
from tests.unit.inference.core.building import SANITIZERS, compiled, library
from tests.unit.inference.core.models import GRAPHS, Item, items, packed, run

DRIVER = Path(__file__).with_name("driver.c")
ROUNDS = 400
FUZZED = ("embedder by mean", "classifier with marks", "classifier with a deep head")


def write_batch(path: Path, given: list[Item]) -> Path:
    """Writes items for the driver."""
    ids = np.concatenate([ids for ids, _ in given])
    numbers = np.array([len(given), *(len(ids) for ids, _ in given), *ids], np.int32)
    marked = np.array([mark for _, marks in given for mark in marks], np.uint8)
    path.write_bytes(numbers.tobytes() + marked.tobytes())
    return path


@pytest.mark.parametrize("rows", ROW_BITS)
@pytest.mark.parametrize("name", FUZZED)
def test_damaged_files_and_wrong_batches_are_survived_under_sanitizers(tmp_path: Path, name: str, rows: Rows) -> None:
    driver = compiled(*SANITIZERS, sources=(DRIVER,), suffix="")
    file = tmp_path / "core.bin"
    file.write_bytes(packed(name, rows).tobytes())
    # A host that preloads libraries must not stand in front of the sanitizer's own.
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    done = subprocess.run([driver, "fuzz", file, str(ROUNDS)], capture_output=True, text=True, env=environment)  # noqa: PLW1510  # its report is shown below
    assert done.returncode == 0, done.stderr
    seen = dict(enumerate(map(int, done.stdout.split())))
    wanted = {Status.OK, Status.BAD_FILE, Status.BAD_BATCH, Status.BAD_TOKEN, Status.NO_ROOM, Status.NO_LEVEL}
    assert {status for status, count in seen.items() if count} == wanted


@pytest.mark.parametrize("name", GRAPHS)
def test_another_processor_gives_the_same_bits(tmp_path: Path, name: str) -> None:
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None or platform.machine() == "aarch64":
        pytest.skip("needs gcc-aarch64-linux-gnu and qemu-user")
    driver = compiled("-static", sources=(DRIVER,), suffix="", compiler=compiler)
    given = items(3)
    batch = write_batch(tmp_path / "batch", given)
    for rows in ROW_BITS:
        file = tmp_path / "core.bin"
        file.write_bytes(packed(name, rows).tobytes())
        results, marks = run(library(), packed(name, rows), given, library().level)
        for level in (InstructionSet.SCALAR, InstructionSet.NEON):
            command: list[str | Path] = [emulator, driver, "run", file, batch, str(int(level))]
            found = subprocess.run(command, capture_output=True, check=True).stdout
            expected = results.tobytes() + b"".join(item_marks.tobytes() for item_marks in marks)
            assert found == expected[: len(found)], level.name
            assert len(found) >= results.nbytes


@pytest.mark.parametrize(
    ("lengths", "room", "status"),
    [
        *(([0], 512, Status.BAD_BATCH), ([-1], 512, Status.BAD_BATCH)),
        *(([49], 512, Status.BAD_BATCH), ([], 512, Status.BAD_BATCH), ([40], 39, Status.NO_ROOM)),
    ],
)
def test_a_wrong_length_and_too_little_room_are_refused(lengths: list[int], room: int, status: Status) -> None:
    file = packed("embedder by mean", "rows8")
    batch = CoreBatch(np.array(lengths, np.int32), np.ones(sum(map(abs, lengths)), np.int32))
    with pytest.raises(CoreRunError) as caught:
        library().run(file, batch, workspace=library().workspace(file, room), instruction_set=library().level)
    assert caught.value.status == status
