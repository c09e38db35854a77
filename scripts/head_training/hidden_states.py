"""The encoder's hidden state of [CLS] for many pairs, computed once and kept on disk."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from inference.compile.staging import ProgressEvent, ProgressListener

Float32 = NDArray[np.float32]

_BATCH_TOKENS = 1024  # padded; larger batches are no faster on two cores
_MAX_TOKENS = 512


@dataclass(frozen=True)
class Encoder:
    """An encoder graph and its tokenizer, with the digest of both."""

    session: ort.InferenceSession
    tokenizer: Tokenizer
    digest: str


def open_encoder(graph: onnx.ModelProto, tokenizer_json: str) -> Encoder:
    """Opens a graph with inputs `input_ids` and `attention_mask` and output `hidden` (batch, hidden size)."""
    serialized = graph.SerializeToString(deterministic=True)
    session = ort.InferenceSession(serialized, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_str(tokenizer_json)
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    digest = hashlib.sha256(serialized + tokenizer_json.encode()).hexdigest()
    return Encoder(session, tokenizer, digest)


def hidden_states(
    encoder: Encoder, pairs: Sequence[tuple[str, str]], *, cache_dir: Path, subject: str, progress: ProgressListener
) -> Float32:
    """Returns (pairs, hidden size), from `cache_dir` when the same encoder has seen the same pairs."""
    key = hashlib.sha256(encoder.digest.encode() + repr(list(pairs)).encode()).hexdigest()[:16]
    path = cache_dir / f"{subject}-{key}.npy"
    if path.is_file():
        return np.asarray(np.load(path), dtype=np.float32)
    states = _compute(encoder, pairs, subject, progress)
    cache_dir.mkdir(parents=True, exist_ok=True)
    np.save(path, states)
    return states


def _compute(encoder: Encoder, pairs: Sequence[tuple[str, str]], subject: str, progress: ProgressListener) -> Float32:
    encodings = encoder.tokenizer.encode_batch(list(pairs))
    rows: list[Float32 | None] = [None] * len(encodings)
    done = 0
    for batch in _batches(encodings):
        outputs = encoder.session.run(["hidden"], _padded([encodings[index] for index in batch]))[0]
        for index, row in zip(batch, outputs, strict=True):
            rows[index] = row
        done += len(batch)
        progress(ProgressEvent("encode", subject, done, len(encodings), "steps"))
    return np.stack([row for row in rows if row is not None])


def _batches(encodings: Sequence[Encoding]) -> list[list[int]]:
    """Groups indices by length, so that little is spent on padding."""
    batches: list[list[int]] = [[]]
    for index in sorted(range(len(encodings)), key=lambda index: len(encodings[index])):
        if (len(batches[-1]) + 1) * len(encodings[index]) > _BATCH_TOKENS and batches[-1]:
            batches.append([])
        batches[-1].append(index)
    return batches


def _padded(encodings: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
    length = max(len(encoding) for encoding in encodings)
    input_ids = np.zeros((len(encodings), length), dtype=np.int64)  # [PAD] is 0
    attention_mask = np.zeros_like(input_ids)
    for row, encoding in enumerate(encodings):
        input_ids[row, : len(encoding)] = encoding.ids
        attention_mask[row, : len(encoding)] = 1
    return {"input_ids": input_ids, "attention_mask": attention_mask}
