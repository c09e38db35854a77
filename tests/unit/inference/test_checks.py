"""Checking claims: probabilities of the pair, and of each token of the hypothesis, on a small graph with both heads."""

import asyncio
import random
from pathlib import Path

import numpy as np
import pytest

from inference.compile.deberta import build_claim_checker
from inference.compile.quantize import quantize_rows
from inference.compile.updates import fold_updates
from inference.models.session import OrtBackend
from tests.unit.inference.compile.random_weights import DEBERTA, deberta_weights, random_updates
from tests.unit.inference.compile.reference import deberta_states
from tests.unit.inference.tiny_models import (
    MAX_TOKENS,
    NLI_FIELDS,
    VOCABULARY,
    make_engine,
    write_directory,
    write_tiny_nli,
)

WEIGHTS = deberta_weights()
UPDATES = random_updates(WEIGHTS, DEBERTA)
NLI_ALONE: dict[str, object] = {"roles": ["nli"], "cache": {"max_bytes": 0}}
WORD_COUNT = 40  # the checkpoint knows no more


def write_checker(path: Path, *, is_int8: bool) -> None:
    """Writes a model directory whose graph marks tokens."""
    updated = fold_updates(UPDATES.write(path.parent / "updates"), WEIGHTS, DEBERTA)
    graph = build_claim_checker(updated.weights, DEBERTA, (updated.label_head,), updated.token_head)
    labels = {0: "entailment", 1: "neutral", 2: "contradiction"}
    write_directory(
        path, quantize_rows(graph) if is_int8 else graph, {**NLI_FIELDS, "id2label": labels, "max_tokens": MAX_TOKENS}
    )


@pytest.fixture(params=[False, True], ids=["fp32", "int8_rows"])
def models_dir(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_checker(tmp_path / "nli", is_int8=request.param)
    return tmp_path


def make_pairs(count: int) -> list[tuple[str, str]]:
    rng = random.Random(4)

    def text(most: int) -> str:
        return " ".join(f"w{rng.randrange(WORD_COUNT)}" for _ in range(rng.randrange(1, most)))

    return [(text(40), text(20)) for _ in range(count)]


async def test_a_mark_is_what_the_token_head_says(tmp_path: Path) -> None:
    write_checker(tmp_path / "nli", is_int8=False)
    premise, hypothesis = "w1 w2 w3 w4", "w5  w6 w7"
    async with make_engine(tmp_path, **NLI_ALONE) as engine:
        (marks,) = (await engine.nli.check([(premise, hypothesis)])).marks
    ids = [VOCABULARY.index(word) for word in f"[CLS] {premise} [SEP] {hypothesis} [SEP]".split()]
    states = deberta_states(UPDATES.beside(WEIGHTS), DEBERTA, ids)[6:9]
    weight, bias = (UPDATES.arrays[f"token_head.{part}"].astype(np.float64) for part in ("weight", "bias"))
    expected = 1 / (1 + np.exp(-(states @ weight[0] + bias)))
    assert [hypothesis[start:end] for start, end, _ in marks] == ["w5", "w6", "w7"]
    np.testing.assert_allclose([probability for *_, probability in marks], expected, atol=1e-5)


def test_bound_memory_gives_marks_too(models_dir: Path) -> None:
    backend = OrtBackend(models_dir / "nli" / "model.onnx", "cpu")
    types = np.array([[0, 0, 0, 1, 1, 1]], np.int64)
    inputs = {"input_ids": types + 2, "attention_mask": np.ones_like(types), "token_type_ids": types}
    output = backend.run(inputs)
    assert output.shape == (1, 3 + types.size)
    np.testing.assert_array_equal(backend._run_bound(inputs), output)  # noqa: SLF001  (the path of GPUs)


async def test_checking_says_of_a_pair_what_entailing_says(models_dir: Path) -> None:
    pairs = make_pairs(40)
    async with make_engine(models_dir, **NLI_ALONE) as engine:
        checked, entailed = await engine.nli.check(pairs), await engine.nli.entail(pairs)
    np.testing.assert_array_equal(checked.values, entailed.values)
    assert [len(marks) for marks in checked.marks] == [len(hypothesis.split()) for _, hypothesis in pairs]


async def test_no_bit_of_a_mark_depends_on_its_company(models_dir: Path) -> None:
    pairs, rng = make_pairs(120), random.Random(5)
    async with make_engine(models_dir, **NLI_ALONE, batch={"max_batch_size": 1}) as engine:
        alone = await engine.nli.check(pairs)
    async with make_engine(models_dir, **NLI_ALONE) as engine:
        for _ in range(2):
            order = rng.sample(range(len(pairs)), len(pairs))
            batches = await asyncio.gather(*(engine.nli.check([pairs[index]]) for index in order))
            for index, batch in zip(order, batches, strict=True):
                assert batch.marks[0] == alone.marks[index]
                np.testing.assert_array_equal(batch.values[0], alone.values[index])
        assert 0 < engine.statistics().models["nli"].batches < 2 * len(pairs)


async def test_the_cache_keeps_marks_and_a_repeated_pair_shares_them(models_dir: Path) -> None:
    pairs = make_pairs(10)
    async with make_engine(models_dir, roles=["nli"]) as engine:
        first = await engine.nli.check(pairs + pairs)
        again = await engine.nli.check(pairs)
    assert first.marks[:10] == first.marks[10:] == again.marks
    assert again.cache_hit_count == len(pairs)


async def test_a_long_list_goes_by_the_tokenizer_thread_and_keeps_its_order(models_dir: Path) -> None:
    pairs = make_pairs(600)
    async with make_engine(models_dir, **NLI_ALONE) as engine:
        together = await engine.nli.check(pairs)
        last = await engine.nli.check(pairs[-1:])
    assert together.marks[-1] == last.marks[0]


async def test_a_graph_without_marks_gives_none(tmp_path: Path) -> None:
    write_tiny_nli(tmp_path / "nli")
    async with make_engine(tmp_path, **NLI_ALONE) as engine:
        checked = await engine.nli.check([("w1 w2", "w3"), ("w1", "w2")])
    assert checked.marks == ((), ())
    assert checked.values.shape == (2, 3)
