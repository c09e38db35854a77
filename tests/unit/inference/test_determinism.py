"""Same input, same score, whatever else is in flight: on real graphs, through ONNX Runtime."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import numpy as np
import pytest

from inference.config import InferenceConfig
from inference.engine import Engine
from tests.unit.inference.tiny_models import write_tiny_embedder, write_tiny_nli


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    write_tiny_embedder(tmp_path / "embedding")
    write_tiny_nli(tmp_path / "nli")
    return tmp_path


def make_text(rng: random.Random, most: int = 40) -> str:
    return " ".join(f"w{rng.randrange(200)}" for _ in range(rng.randrange(1, most)))


def make_engine(models_dir: Path, **batch: int) -> Engine:
    return Engine(
        InferenceConfig.model_validate(
            {
                "models_dir": models_dir,
                "cache": {"max_bytes": 0},
                "batch": batch,
                "runtime": {"execution_provider": "cpu", "workers": 2, "warmup_s": 0.1},
            }
        )
    )


async def test_an_embedding_does_not_depend_on_its_company(models_dir: Path) -> None:
    rng = random.Random(1)
    texts = [make_text(rng) for _ in range(120)]
    async with make_engine(models_dir, max_batch_size=1) as engine:
        alone = (await engine.embedder.embed(texts)).values
    async with make_engine(models_dir, max_batch_size=32, max_batch_tokens=4096) as engine:
        for _ in range(3):
            order = rng.sample(range(len(texts)), len(texts))
            batches = await asyncio.gather(*(engine.embedder.embed([texts[i]]) for i in order))
            together = np.concatenate([batch.values for batch in batches])
            np.testing.assert_allclose(together, alone[order], atol=1e-6)
        assert engine.statistics().models["embedding"].batches < 3 * len(texts)  # they did have company


async def test_probabilities_do_not_depend_on_their_company(models_dir: Path) -> None:
    rng = random.Random(2)
    pairs = [(make_text(rng, 30), make_text(rng, 12)) for _ in range(120)]
    async with make_engine(models_dir, max_batch_size=1) as engine:
        alone = (await engine.nli.entail(pairs)).values
    async with make_engine(models_dir, max_batch_size=32, max_batch_tokens=4096) as engine:
        together = (await engine.nli.entail(pairs)).values
        assert engine.statistics().models["nli"].batches < len(pairs)
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(alone.sum(axis=1), 1, atol=1e-6)
