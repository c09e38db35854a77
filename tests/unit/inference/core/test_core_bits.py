"""Every instruction set gives the bits of the specification, alone and in any company."""

from __future__ import annotations

import numpy as np
import pytest

from inference.core.library import InstructionSet
from inference.core.packed_file import ROW_BITS, Rows
from tests.unit.inference.core.building import library
from tests.unit.inference.core.models import GRAPHS, items, packed, run
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
