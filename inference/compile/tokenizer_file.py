"""Takes fixed padding and truncation out of a tokenizer.json: whoever batches decides both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inference.compile.errors import UnsupportedModelError


def write_free_tokenizer(source: Path, target: Path) -> None:
    """Writes `source` to `target` without padding and truncation; nothing else changes.

    Raises:
        UnsupportedModelError: the file is missing or is no tokenizer.
    """
    document = _read(source)
    document["padding"] = None
    document["truncation"] = None
    target.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def pad_token_id(tokenizer_json: Path, pad_token: str) -> int:
    """Returns the id of the padding token. Raises UnsupportedModelError when there is none."""
    for entry in _read(tokenizer_json)["added_tokens"]:
        if entry["content"] == pad_token:
            return int(entry["id"])
    raise UnsupportedModelError(f"{tokenizer_json} has no token {pad_token!r} to pad with")


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnsupportedModelError(
            f"no readable fast tokenizer at {path} ({error}); the checkpoint must have a tokenizer.json"
        ) from error
    if not isinstance(document, dict) or "model" not in document:
        raise UnsupportedModelError(f"{path} is no tokenizer.json: it has no model")
    return document
