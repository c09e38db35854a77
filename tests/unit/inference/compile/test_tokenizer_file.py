"""Rules of freeing a tokenizer from fixed lengths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inference.compile.checkpoint_files import pad_token_id, write_free_tokenizer
from inference.compile.errors import UnsupportedModelError

DOCUMENT = {
    "version": "1.0",
    "truncation": {"max_length": 160},
    "padding": {"strategy": {"Fixed": 160}},
    "added_tokens": [{"id": 7, "content": "[PAD]"}],
    "model": {"type": "WordLevel", "vocab": {"é": 0}},
}


def test_padding_and_truncation_go_and_all_else_stays(tmp_path: Path) -> None:
    (tmp_path / "fixed.json").write_text(json.dumps(DOCUMENT))
    write_free_tokenizer(tmp_path / "fixed.json", tmp_path / "free.json")
    freed = json.loads((tmp_path / "free.json").read_text(encoding="utf-8"))
    assert freed == {**DOCUMENT, "truncation": None, "padding": None}


def test_the_padding_token_has_the_id_that_the_file_gives(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(DOCUMENT))
    assert pad_token_id(tmp_path / "tokenizer.json", "[PAD]") == 7
    with pytest.raises(UnsupportedModelError, match="<pad>"):
        pad_token_id(tmp_path / "tokenizer.json", "<pad>")


@pytest.mark.parametrize("text", ["", "[]", '{"version": "1.0"}'])
def test_what_is_no_tokenizer_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(UnsupportedModelError):
        write_free_tokenizer(tmp_path / "tokenizer.json", tmp_path / "free.json")
