"""Every instruction set gives the bits of the specification, alone, in any company, and behind the backend seam."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from inference.backend import Int64
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from inference.core.core_backend import CoreBackend
from inference.core.library import CoreRunError, InstructionSet, Status
from inference.core.packed_file import CORE_FILE, HEADER, ROW_BITS, Rows
from inference.errors import CorruptModelError, HashMismatchError
from tests.unit.inference.core.building import library
from tests.unit.inference.core.models import GRAPHS, Item, items, packed, run
from tests.unit.inference.core.reference import Reference


def levels() -> tuple[InstructionSet, ...]:
    """The instruction sets of this machine."""
    scalar, avx2, neon, avx512 = InstructionSet
    return {scalar: (scalar,), avx2: (scalar, avx2), neon: (scalar, neon), avx512: (scalar, avx2, avx512)}[
        library().level
    ]


@pytest.mark.parametrize("rows", ROW_BITS)
@pytest.mark.parametrize("name", GRAPHS)
def test_all_instruction_sets_give_the_bits_of_the_specification(name: str, rows: Rows) -> None:
    file, given = packed(name, rows), items(4)
    expected = [Reference(file).run(*item) for item in given]
    for level in levels():
        results, marks = run(library(), file, given, level)
        for at, (result, item_marks) in enumerate(expected):
            assert results[at].tobytes() == result.tobytes(), f"{level.name}, item {at}"
            assert marks[at].tobytes() == item_marks.tobytes(), f"{level.name}, marks of item {at}"


@pytest.mark.parametrize("rows", ROW_BITS)
@pytest.mark.parametrize("name", ["embedder by mean", "classifier with marks"])
def test_a_result_is_the_same_alone_and_in_any_company(name: str, rows: Rows) -> None:
    file, given = packed(name, rows), items(40, seed=5)
    level = library().level
    together, _ = run(library(), file, given, level)
    backwards, _ = run(library(), file, given[::-1], level)
    alone = np.concatenate([run(library(), file, [item], level)[0] for item in given])
    assert together.tobytes() == alone.tobytes() == backwards[::-1].tobytes()


def test_every_length_is_computed() -> None:
    file = packed("classifier with marks", "rows8")
    given = [items(2, seed=length, longest=length)[1] for length in range(1, 41)]
    results = [run(library(), file, given, level)[0] for level in levels()]
    assert np.isfinite(results[0]).all()
    assert len({found.tobytes() for found in results}) == 1


INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_core(path: Path, name: str) -> Path:
    path.write_bytes(packed(name, "rows8").tobytes())
    return path


def to_inputs(given: list[Item]) -> dict[str, Int64]:
    """Pads items whose marked tokens are their second text."""
    rows = [Encoded(np.array(ids, np.int32).tobytes(), len(ids) // 2, is_truncated=False, key=b"") for ids, _ in given]
    return pad_rows(rows, INPUTS, 0)


def test_padding_changes_nothing_and_many_rows_are_run_in_groups(tmp_path: Path) -> None:
    name, given = "classifier with marks", items(40)
    assert sum(len(ids) for ids, _ in given) > 512
    backend = CoreBackend(write_core(tmp_path / CORE_FILE, name), library())
    inputs = to_inputs(given)
    values = backend.run(inputs)
    types = inputs["token_type_ids"]
    marked = [(ids, types[at, : len(ids)].tolist()) for at, (ids, _) in enumerate(given)]
    results, marks = run(library(), packed(name, "rows8"), marked, library().level)
    assert values[:, :3].tobytes() == results.tobytes()
    for at, item_marks in enumerate(marks):
        assert values[at, 3 : 3 + len(item_marks)].tobytes() == item_marks.tobytes()
        assert not values[at, 3 + len(item_marks) :].any()


def test_an_interrupted_backend_computes_nothing_more(tmp_path: Path) -> None:
    backend = CoreBackend(write_core(tmp_path / CORE_FILE, "embedder by mean"), library())
    backend.interrupt()
    with pytest.raises(CoreRunError, match="STOPPED"):
        backend.run(to_inputs(items(2)))


def test_an_id_that_has_no_embedding_fails_the_run_and_no_other(tmp_path: Path) -> None:
    backend = CoreBackend(write_core(tmp_path / CORE_FILE, "embedder by mean"), library())
    for wrong in (50, -1, 2**31 - 1):
        with pytest.raises(CoreRunError) as caught:
            backend.run(to_inputs([([1, wrong, 3], [0, 0, 0])]))
        assert caught.value.status == Status.BAD_TOKEN
    assert np.isfinite(backend.run(to_inputs(items(2)))).all()


@pytest.mark.parametrize("size", [0, 1, HEADER.itemsize, -1])
def test_a_packed_file_of_another_length_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / CORE_FILE
    path.write_bytes(packed("embedder by mean", "rows8").tobytes()[:size])
    with pytest.raises(CorruptModelError, match="packed file"):
        CoreBackend(path, library())


def test_a_file_that_changes_or_is_cut_under_a_server_changes_nothing(tmp_path: Path) -> None:
    path = write_core(tmp_path / CORE_FILE, "embedder by mean")
    whole, inputs = path.read_bytes(), to_inputs(items(3))
    backend = CoreBackend(path, library(), sha256=hashlib.sha256(whole).hexdigest())
    before = backend.run(inputs)
    path.write_bytes(whole[: HEADER.itemsize] + bytes(len(whole) - HEADER.itemsize))
    assert backend.run(inputs).tobytes() == before.tobytes()
    os.truncate(path, 64)
    assert backend.run(inputs).tobytes() == before.tobytes()


def test_the_copy_that_is_computed_with_is_the_one_that_is_hashed(tmp_path: Path) -> None:
    path = write_core(tmp_path / CORE_FILE, "embedder by mean")
    with pytest.raises(HashMismatchError):
        CoreBackend(path, library(), sha256="0" * 64)
