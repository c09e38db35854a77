"""Rules of manifest.json."""

from typing import Any

import pytest
from pydantic import ValidationError

from inference.models.manifest import Manifest
from tests.unit.inference.tiny_models import EMBEDDING_FIELDS, NLI_FIELDS


def test_label_columns_follow_id2label_and_not_an_assumed_order() -> None:
    assert Manifest.model_validate(NLI_FIELDS).label_columns == (1, 2, 0)
    facts = NLI_FIELDS | {"id2label": {0: "not_entailment", 1: "entailment"}}
    assert Manifest.model_validate(facts).label_columns == (1, 0)


def test_a_manifest_survives_its_own_json() -> None:
    for fields in (NLI_FIELDS, EMBEDDING_FIELDS):
        manifest = Manifest.model_validate(fields)
        assert Manifest.model_validate_json(manifest.model_dump_json(exclude_none=True)) == manifest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id2label": None}, "id2label"),
        ({"id2label": {0: "entailment", 1: "neutral"}}, "id2label"),
        ({"id2label": {0: "entailment", 1: "neutral", 2: "neutral"}}, "id2label"),
        ({"id2label": {1: "entailment", 2: "neutral", 3: "contradiction"}}, "id2label"),
        ({"files": {"model.onnx": "0" * 64}}, "tokenizer.json is not listed"),
        ({"files": {**NLI_FIELDS["files"], "../secret": "0" * 64}}, "not a plain file name"),
        ({"files": {**NLI_FIELDS["files"], "manifest.json": "0" * 64}}, "not a plain file name"),
        ({"files": {"model.onnx": "short", "tokenizer.json": "1" * 64}}, "pattern"),
        ({"inputs": ["input_ids"]}, "attention_mask"),
        ({"schema_version": 2}, "schema_version"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"pad_token": 1}, "Extra inputs"),
        ({"task": "embedding"}, "an embedding model has no labels"),
    ],
)
def test_a_wrong_nli_manifest_is_refused_with_what_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Manifest.model_validate({**NLI_FIELDS, **change})


@pytest.mark.parametrize("field", ["dimension", "pooling", "normalized"])
def test_an_embedding_manifest_must_say_how_vectors_are_made(field: str) -> None:
    with pytest.raises(ValidationError, match="dimension, pooling and normalized are required"):
        Manifest.model_validate({**EMBEDDING_FIELDS, field: None})
