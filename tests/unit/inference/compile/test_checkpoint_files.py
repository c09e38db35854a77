"""Rules of reading what a Hugging Face checkpoint says about itself, and of freeing its tokenizer."""

import json
from pathlib import Path
from typing import Any

import pytest

from inference.compile.checkpoint_files import (
    CheckpointFiles,
    open_checkpoint_files,
    pad_token_id,
    write_free_tokenizer,
)
from inference.compile.errors import UnsupportedModelError

CONFIG: dict[str, Any] = {"model_type": "bert", "hidden_size": 8, "max_position_embeddings": 512}
SENTENCE_MODULES = [
    {"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling", "Normalize")
]


def _open(folder: Path, config: dict[str, Any] | None = None, /, **files: object) -> CheckpointFiles:
    """Writes config.json and other files; a name's double underscore stands for a slash."""
    for name, content in {"config": {**CONFIG, **(config or {})}, **files}.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    return open_checkpoint_files(str(folder))


def test_labels_are_read_by_name_in_any_order_and_case(tmp_path: Path) -> None:
    files = _open(tmp_path, {"id2label": {"0": "CONTRADICTION", "1": "Entailment", "2": "neutral"}})
    assert files.id2label() == {0: "contradiction", 1: "entailment", 2: "neutral"}
    assert files.id2label(["not_entailment", "entailment"]) == {0: "not_entailment", 1: "entailment"}


@pytest.mark.parametrize(
    "labels", [{}, {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, {"0": "entailment", "1": "neutral"}]
)
def test_labels_of_other_names_are_refused(tmp_path: Path, labels: dict[str, str]) -> None:
    files = _open(tmp_path, {"id2label": labels})
    with pytest.raises(UnsupportedModelError, match="--labels names them"):
        files.id2label()


@pytest.mark.parametrize(
    ("config", "files", "limit"),
    [
        ({}, {}, 512),
        ({}, {"tokenizer_config": {"model_max_length": int(1e30)}}, 512),
        ({}, {"tokenizer_config": {"model_max_length": 384}}, 384),
        ({}, {"tokenizer_config": {"model_max_length": 384}, "sentence_bert_config": {"max_seq_length": 128}}, 128),
        ({"model_type": "roberta", "max_position_embeddings": 514}, {}, 512),  # it counts positions after padding
    ],
)
def test_the_smallest_stated_limit_counts(
    tmp_path: Path, config: dict[str, Any], files: dict[str, Any], limit: int
) -> None:
    assert _open(tmp_path, config, **files).max_tokens == limit


@pytest.mark.parametrize(("mode", "pooling"), [("mean_tokens", "mean"), ("cls_token", "cls"), (None, "mean")])
def test_pooling_is_what_the_sentence_modules_say(tmp_path: Path, mode: str | None, pooling: str) -> None:
    modes = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": False, f"pooling_mode_{mode}": True}
    files: dict[str, Any] = {"modules": SENTENCE_MODULES, "1_Pooling__config": modes} if mode else {}
    assert _open(tmp_path, **files).pooling == pooling


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("1_Pooling__config", {"pooling_mode_max_tokens": True}, "max_tokens"),
        ("modules", [*SENTENCE_MODULES, {"type": "sentence_transformers.models.Dense"}], "Dense"),
    ],
)
def test_what_cannot_be_compiled_is_refused_by_name(tmp_path: Path, name: str, content: object, told: str) -> None:
    files = _open(tmp_path, **{name: content})
    with pytest.raises(UnsupportedModelError, match=told):
        _ = files.pooling


def test_the_licence_is_that_of_the_model_card(tmp_path: Path) -> None:
    files = _open(tmp_path)
    assert files.license.startswith("not stated")
    (tmp_path / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\nlicense: no\n")
    assert files.license == "apache-2.0"


def test_the_revision_of_a_local_folder_follows_its_weights(tmp_path: Path) -> None:
    before = _open(tmp_path).revision
    assert _open(tmp_path).source == f"local folder {tmp_path.name}"  # and tells no path
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    after = _open(tmp_path).revision
    assert before != after
    assert after == _open(tmp_path).revision


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_a_folder_without_a_usable_config_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(UnsupportedModelError, match=r"config\.json"):
        open_checkpoint_files(str(tmp_path))


DOCUMENT = {
    "version": "1.0",
    "truncation": {"max_length": 160},
    "padding": {"strategy": {"Fixed": 160}},
    "added_tokens": [{"id": 7, "content": "[PAD]"}],
    "model": {"type": "WordLevel", "vocab": {"é": 0}},
}


def test_padding_and_truncation_go_and_the_padding_token_has_the_id_that_the_file_gives(tmp_path: Path) -> None:
    (tmp_path / "fixed.json").write_text(json.dumps(DOCUMENT))
    write_free_tokenizer(tmp_path / "fixed.json", tmp_path / "free.json")
    freed = json.loads((tmp_path / "free.json").read_text(encoding="utf-8"))
    assert freed == {**DOCUMENT, "truncation": None, "padding": None}
    (tmp_path / "tokenizer.json").write_text(json.dumps(DOCUMENT))
    assert pad_token_id(tmp_path / "tokenizer.json", "[PAD]") == 7
    with pytest.raises(UnsupportedModelError, match="<pad>"):
        pad_token_id(tmp_path / "tokenizer.json", "<pad>")


@pytest.mark.parametrize("text", ["", "[]", '{"version": "1.0"}'])
def test_what_is_no_tokenizer_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(UnsupportedModelError):
        write_free_tokenizer(tmp_path / "tokenizer.json", tmp_path / "free.json")
