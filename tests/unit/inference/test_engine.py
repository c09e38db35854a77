import asyncio
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from tokenizers import Tokenizer

from inference.call import Call
from inference.config import InferenceConfig
from inference.engine import Engine, usable_cpu_count
from inference.errors import (
    CorruptModelError,
    ExecutionProviderError,
    HashMismatchError,
    ManifestError,
    MissingModelError,
    ShuttingDownError,
)
from tests.fakes import FakeBackend
from tests.unit.inference.tiny_models import (
    EMBEDDING_FIELDS,
    make_engine,
    write_model_directory,
    write_tiny_embedder,
    write_tiny_nli,
)


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    write_tiny_embedder(tmp_path / "embedding")
    write_tiny_nli(tmp_path / "nli")
    return tmp_path


def write_other_bytes(path: Path) -> None:
    shutil.rmtree(path)
    write_model_directory(path, fields=EMBEDDING_FIELDS)


def precis_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("precis-")]


async def test_an_embedding_is_what_the_graph_gives(models_dir: Path) -> None:
    async with make_engine(models_dir) as engine:
        batch = await engine.embedder.embed(["w1 w2 w3"])
    ids = np.array([Tokenizer.from_file(str(models_dir / "embedding" / "tokenizer.json")).encode("w1 w2 w3").ids])
    session = ort.InferenceSession(str(models_dir / "embedding" / "model.onnx"))
    expected = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    np.testing.assert_allclose(batch.values, np.asarray(expected), atol=1e-6)
    assert batch.token_counts == (5,)
    assert batch.truncated == (False,)


async def test_probabilities_are_in_our_order_whatever_the_graphs(models_dir: Path) -> None:
    async with make_engine(models_dir) as engine:
        batch = await engine.nli.entail([("w1 w2", "w3")])
    ids = np.array([Tokenizer.from_file(str(models_dir / "nli" / "tokenizer.json")).encode("w1 w2", "w3").ids])
    session = ort.InferenceSession(str(models_dir / "nli" / "model.onnx"))
    logits = np.asarray(session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0], np.float64)[0]
    weights = np.exp(logits - logits.max())
    contradiction, entailment, neutral = weights / weights.sum()  # the order of NLI_FIELDS
    np.testing.assert_allclose(batch.values, [[entailment, neutral, contradiction]], atol=1e-6)


async def test_truncation_is_reported(models_dir: Path) -> None:
    async with make_engine(models_dir) as engine:
        assert (await engine.embedder.embed([])).values.shape == (0, 16)
        texts = await engine.embedder.embed(["w1", "w1 " * 100])
        pairs = await engine.nli.entail([("w1", "w2"), ("w1 " * 100, "w2")])
    assert texts.truncated == pairs.truncated == (False, True)
    assert texts.token_counts == (3, 64)


async def test_a_long_list_goes_by_the_tokenizer_thread_and_gives_the_same(models_dir: Path) -> None:
    texts = [f"w{number % 200} w{number // 200}" for number in range(600)]
    async with make_engine(models_dir, cache={"max_bytes": 0}) as engine:
        together = await engine.embedder.embed(texts)
        apart = await asyncio.gather(*(engine.embedder.embed([text]) for text in texts))
    np.testing.assert_allclose(together.values, np.concatenate([batch.values for batch in apart]), atol=1e-6)


async def test_a_long_list_delays_a_single_long_text_by_a_slice(models_dir: Path) -> None:
    ended: list[str] = []

    async def embed(name: str, texts: list[str]) -> None:
        await engine.embedder.embed(texts)
        ended.append(name)

    async with make_engine(models_dir) as engine:
        await asyncio.gather(embed("list", ["w1 w2 w3 " * 1_000] * 50), embed("text", ["w1 " * 1_000]))
    assert ended == ["text", "list"]


async def test_rows_of_one_owner_are_not_given_to_another(models_dir: Path) -> None:
    async with make_engine(models_dir) as engine:
        batches = [await engine.embedder.embed(["w1 w2"], Call(owner=owner)) for owner in ("a", "b", "a", "")]
    assert [batch.cache_hit_count for batch in batches] == [0, 0, 1, 0]
    assert len({batch.values.tobytes() for batch in batches}) == 1


async def test_both_models_share_one_set_of_threads_which_end_with_the_engine(models_dir: Path) -> None:
    changes: list[bool] = []
    engine = make_engine(models_dir)
    engine.on_ready = changes.append
    states = [engine.is_ready]
    async with engine:
        states.append(engine.is_ready)
        assert sorted(precis_threads()) == ["precis-worker-0", "precis-worker-1"]
        assert engine.statistics().is_ready
    assert precis_threads() == []
    assert changes == [True]
    assert states == [False, True]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no priority of its own")
async def test_workers_give_way_to_the_event_loop(models_dir: Path) -> None:
    async with make_engine(models_dir):
        workers = [one.native_id for one in threading.enumerate() if one.name.startswith("precis-worker")]
        own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        assert {os.getpriority(os.PRIO_PROCESS, worker or 0) for worker in workers} == {min(own + 5, 19)}


async def test_leaving_finishes_what_was_admitted_and_refuses_the_rest(models_dir: Path) -> None:
    async with make_engine(models_dir) as engine:
        embedder = engine.embedder
        admitted = asyncio.create_task(embedder.embed([f"w{number}" for number in range(100)]))
        await asyncio.sleep(0)
    assert (await admitted).errors == {}
    with pytest.raises(ShuttingDownError):
        await embedder.embed(["w199"])


async def test_one_role_can_be_served_alone(models_dir: Path) -> None:
    shutil.rmtree(models_dir / "nli")
    async with make_engine(models_dir, roles=["embedding"]) as engine:
        assert list(engine.models) == ["embedding"]
        assert engine.models["embedding"].manifest.name == "tiny"


@pytest.mark.parametrize(
    ("damage", "error", "told"),
    [
        (shutil.rmtree, MissingModelError, ""),
        (lambda path: shutil.copytree(path.parent / "nli", path, dirs_exist_ok=True), ManifestError, "task is nli"),
        (lambda path: (path / "model.onnx").write_bytes(b"other"), HashMismatchError, ""),
        (write_other_bytes, CorruptModelError, ""),
    ],
    ids=["missing", "another task", "changed", "no graph"],
)
async def test_a_model_that_cannot_be_used_is_named_and_no_thread_stays(
    models_dir: Path, damage: Callable[[Path], object], error: type[Exception], told: str
) -> None:
    damage(models_dir / "embedding")
    with pytest.raises(error, match=told or None):
        async with make_engine(models_dir):
            pass
    assert precis_threads() == []


async def test_cuda_that_is_not_there_is_an_error_that_says_what_to_do(models_dir: Path) -> None:
    if "CUDAExecutionProvider" in ort.get_available_providers():
        pytest.skip("CUDA is there")
    with pytest.raises(ExecutionProviderError, match="extra `gpu`"):
        async with make_engine(models_dir, runtime={"execution_provider": "cuda"}):
            pass


CORES = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        *(("100000 100000", 1), ("50000 100000", 1), ("max 100000", CORES), ("99900000 100000", CORES)),
        *(("what", CORES), (None, CORES)),
    ],
)
def test_a_quota_counts_when_it_is_smaller_than_the_affinity(tmp_path: Path, quota: str | None, expected: int) -> None:
    if quota is not None:
        (tmp_path / "cpu.max").write_text(quota)
    assert usable_cpu_count(tmp_path / "cpu.max") == expected


async def test_weights_that_give_no_numbers_are_refused_at_the_start(models_dir: Path) -> None:
    backend = FakeBackend()
    backend.nan = {1}
    config = InferenceConfig.model_validate({"roles": ["embedding"]})
    with pytest.raises(CorruptModelError, match="its numbers are not finite"):
        async with Engine(models_dir, config, open_backend=lambda *_: backend):
            pass
