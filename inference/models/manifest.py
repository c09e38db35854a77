"""The manifest of a model directory: what the files are, how to feed them, how to read their output.

A manifest is written once, by `inference.compile`, and read at every start. It answers what the runtime must never
guess: which output column means entailment, how long a text may be, which inputs the graph has. It names the bytes that
were compiled and checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"
MARKS = "marks"  # a graph's second output, if it has one: log-odds that the premise does not support a token

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
NLI_LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)  # the column order everywhere outside a graph
FACT_LABELS = (ENTAILMENT, "not_entailment")  # of models that were trained to check facts: they know no contradiction

Task = Literal["nli", "embedding"]
Input = Literal["input_ids", "attention_mask", "token_type_ids"]
Precision = Literal["fp32", "int8_rows"]  # how weight products are computed
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """Describes one compiled model. Frozen; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = Field(default=1, description="Version of this file's own format.")
    task: Task = Field(description="Which role the model can take.")
    name: str = Field(min_length=1, description="Name shown to users and returned with scores.")
    revision: str = Field(min_length=1, description="Which weights: hub commit, or package version.")
    source: str = Field(min_length=1, description="Where the weights came from.")
    license: str = Field(min_length=1, description="Licence of the weights, or that none is stated.")
    files: dict[str, Sha256] = Field(description="File name in the directory -> sha256 of its bytes.")
    inputs: tuple[Input, ...] = Field(description="Graph inputs, int64, shape (batch, length).")
    max_tokens: int = Field(ge=3, description="Longest input in tokens, special tokens included.")
    pad_token_id: int = Field(ge=0, description="Id that fills the end of shorter rows.")
    precision: str = Field(min_length=1, description="Arithmetic of the graph (fp32, int8_rows), and its storage.")
    core: str | None = Field(
        default=None,
        min_length=1,
        description="Arithmetic of the packed weights `core.bin` (core-2 rows8, mixed or rows15), where there are any.",
    )
    core_source: Sha256 | None = Field(
        default=None, description="sha256 of the `model.onnx` whose weights `core.bin` holds."
    )
    id2label: dict[int, str] | None = Field(
        default=None, description="NLI only: column of `logits` -> label, in lower case."
    )
    dimension: int | None = Field(default=None, ge=1, description="Embedding only: vector length.")
    pooling: Literal["mean", "cls"] | None = Field(
        default=None, description="Embedding only: how the graph pools token states."
    )
    normalized: bool | None = Field(
        default=None, description="Embedding only: whether vectors leave the graph with L2 norm 1."
    )
    producer: dict[str, str] = Field(default_factory=dict, description="Versions of what wrote the files.")
    measured: dict[str, float | int | str] = Field(
        default_factory=dict, description="What the compile step measured on this graph."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for required in (TOKENIZER_FILE, *([] if self.core else [MODEL_FILE])):
            if required not in self.files:
                raise ValueError(f"files: {required} is not listed")
        for name in self.files:
            if PurePosixPath(name).name != name or name in {MANIFEST_FILE, "..", ""}:
                raise ValueError(f"files: {name!r} is not a plain file name of this directory")
        if not {"input_ids", "attention_mask"} <= set(self.inputs):
            raise ValueError("inputs: input_ids and attention_mask are required")
        if self.task == "nli":
            check_labels(self.id2label or {})
        elif self.id2label is not None:
            raise ValueError("id2label: an embedding model has no labels")
        elif self.dimension is None or self.pooling is None or self.normalized is None:
            raise ValueError("embedding: dimension, pooling and normalized are required")
        return self

    @property
    def core_precision(self) -> str:
        """`precision` where the core computes: its arithmetic, and how the graph's weights are stored."""
        return ",".join([self.core or "", *self.precision.split(",")[1:]])

    @property
    def is_int8(self) -> bool:
        """Whether weight products are computed in int8, so that a CPU must sum them exactly."""
        return self.precision.startswith("int8")

    @property
    def label_columns(self) -> tuple[int, ...]:
        """Columns of `logits` in the order of NLI_LABELS, or of FACT_LABELS where there are two."""
        column = {label: index for index, label in (self.id2label or {}).items()}
        return tuple(column[label] for label in (NLI_LABELS if NEUTRAL in column else FACT_LABELS))


def check_labels(id2label: Mapping[int, str]) -> None:
    """Checks that the columns are named as NLI_LABELS or FACT_LABELS, in any order.

    Raises:
        ValueError: another set of labels or columns, with what was found.
    """
    known = (sorted(NLI_LABELS), sorted(FACT_LABELS))
    if sorted(id2label) != list(range(len(id2label))) or sorted(id2label.values()) not in known:
        raise ValueError(
            f"id2label: the columns must be {', '.join(NLI_LABELS)}, or {' and '.join(FACT_LABELS)}, in some order, "
            f"got {dict(id2label)}"
        )
