"""The installed models: what shares a batch with an item does not move a bit of its result."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from inference.batching.cost_table import CostTable
from inference.config import InferenceConfig
from inference.engine import Engine
from inference.front_doors import ItemBatch
from inference.tokens.tokenization import TextEncoder
from pipeline.reading.sentences import split_sentences

ROOT = Path(__file__).resolve().parents[3]
MODELS = ROOT / "models"
TEXTS = ("scripts/data/manual/pump-skid.md", "scripts/data/judge/article.txt")
COUNT, ROUNDS = 200, 2
COSTS = CostTable({(1, 8): 1.0, (16, 8): 2.0}, max_rows=16, max_length=512, padding_s=0.0)  # company is worth it

Compute = Callable[[Sequence[Any]], Awaitable[ItemBatch]]

pytestmark = pytest.mark.models


def real_sentences() -> list[str]:
    """Sentences of two texts, and neighbours joined, so that lengths are mixed."""
    sentences: list[str] = []
    for name in TEXTS:
        text = (ROOT / name).read_text("utf-8")
        sentences += [text[span.start : span.end] for span in split_sentences(text, 700)]
    joined = [" ".join(sentences[first : first + 3]) for first in range(0, len(sentences), 2)]
    return list(dict.fromkeys(sentences + joined))


def real_pairs() -> list[tuple[str, str]]:
    rng, sentences = random.Random(3), real_sentences()
    pairs = ((rng.choice(sentences), rng.choice(sentences)) for _ in range(2 * COUNT))
    return list(dict.fromkeys(pairs))


def make_engine(max_batch_size: int) -> Engine:
    settings = {"cache": {"max_bytes": 0}, "batch": {"max_batch_size": max_batch_size}}
    return Engine(MODELS, InferenceConfig.model_validate(settings))


def way_in(engine: Engine, role: str) -> Compute:
    return engine.embedder.embed if role == "embedding" else engine.nli.entail


@pytest.mark.parametrize(("role", "read"), [("embedding", real_sentences), ("nli", real_pairs)])
async def test_no_bit_of_a_result_depends_on_its_company(
    role: str, read: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inference.models.model.measure_costs", lambda *_: COSTS)
    items, rng = read()[:COUNT], random.Random(1)
    assert len(items) == COUNT
    async with make_engine(1) as engine:
        alone = (await way_in(engine, role)(items)).values
    async with make_engine(16) as engine:
        for _ in range(ROUNDS):  # every item in a call of its own, all at a time, in a random order
            order = rng.sample(range(COUNT), COUNT)
            batches = await asyncio.gather(*(way_in(engine, role)([items[index]]) for index in order))
            for index, batch in zip(order, batches, strict=True):
                np.testing.assert_array_equal(batch.values[0], alone[index])
        assert 0 < engine.statistics().models[role].batches < ROUNDS * COUNT


@pytest.mark.parametrize("role", ["embedding", "nli"])
def test_a_text_has_the_tokens_that_its_tokenizer_gives_it(role: str) -> None:
    path = MODELS / role / "tokenizer.json"
    encoder, tokenizer = TextEncoder(path, max_tokens=512), Tokenizer.from_file(str(path))
    texts = [
        *real_sentences(),
        "Größe: 3½ ﬁne “quotes” – naïve…",
        "価格は¥1,200です。",
        "nul\0 nb\xa0sp e\u0301 \u0301x ▁y",
    ]
    for text in texts:
        (item,) = encoder.encode_texts([text])
        assert np.frombuffer(item.ids, np.int32).tolist() == tokenizer.encode(text).ids, text
