"""Runs a checkpoint with transformers and torch, as the reference, and exports architectures that have no writer here.

The tokenizer is transformers' own, the exporter Optimum. Needs the extra `export`; nothing else imports this module.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import torch
from optimum.exporters.onnx import main_export
from tokenizers.processors import TemplateProcessing
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from inference.backend import Float32
from inference.compile.checkpoint_files import CheckpointFiles
from inference.compile.errors import UnsupportedModelError
from inference.models.manifest import Task


class ReferenceModel:
    """A checkpoint in memory, in float32 and without dropout."""

    def __init__(self, files: CheckpointFiles, task: Task, pair_template: str | None = None) -> None:
        """Loads weights and tokenizer. Raises ValueError for a template that is none."""
        model_class = AutoModelForSequenceClassification if task == "nli" else AutoModel
        self.model: Any = model_class.from_pretrained(files.folder).float().eval()
        self._name = files.name
        self.tokenizer: Any = AutoTokenizer.from_pretrained(files.folder)
        if pair_template is not None:
            names = {token.partition(":")[0] for token in pair_template.split() if not token.startswith("$")}
            special = [(name, self.tokenizer.convert_tokens_to_ids(name)) for name in sorted(names)]
            first = pair_template.partition("$B")[0].strip()
            joined = TemplateProcessing(single=first, pair=pair_template, special_tokens=special)
            self.tokenizer.backend_tokenizer.post_processor = joined

    def weights(self) -> dict[str, Float32]:
        """Returns every floating-point array under its Hugging Face name."""
        state = self.model.state_dict()
        return {name: value.numpy() for name, value in state.items() if value.is_floating_point()}

    @property
    def pad_token_id(self) -> int:
        """Id of the padding token; 0 when the tokenizer has none, since the mask hides it anyway."""
        return int(self.tokenizer.pad_token_id or 0)

    def save_tokenizer(self, path: Path) -> None:
        """Writes tokenizer.json, converted from another format if need be."""
        if not self.tokenizer.is_fast:
            raise UnsupportedModelError(f"{self._name} has no tokenizer.json and none can be made from its tokenizer")
        self.tokenizer.backend_tokenizer.save(str(path))

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        """Returns (pairs, labels), each pair computed alone."""
        return np.concatenate([self._run(premise, hypothesis).logits.numpy() for premise, hypothesis in pairs])

    def embeddings(self, texts: Sequence[str], pooling: str) -> Float32:
        """Returns (texts, dimension) with norm 1, each text computed alone."""
        rows = []
        for text in texts:
            states = self._run(text).last_hidden_state[0].numpy()
            pooled = states.mean(axis=0) if pooling == "mean" else states[0]
            rows.append(pooled / np.linalg.norm(pooled))
        return np.stack(rows)

    def _run(self, *texts: str) -> Any:  # noqa: ANN401  # transformers has no types
        with torch.no_grad():
            return self.model(**self.tokenizer(*texts, return_tensors="pt"))


_OPTIMUM_TASKS: dict[Task, str] = {"nli": "text-classification", "embedding": "feature-extraction"}


def export_with_optimum(files: CheckpointFiles, task: Task) -> onnx.ModelProto:
    """Returns Optimum's graph, as it comes: `logits`, or `last_hidden_state` that is not pooled yet.

    Raises UnsupportedModelError: Optimum cannot export this architecture.
    """
    with TemporaryDirectory(prefix="precis-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns of every shape that Python code reads
        try:
            main_export(
                str(files.folder),
                output=folder,
                task=_OPTIMUM_TASKS[task],
                library_name="transformers",
                do_validation=False,  # the finished directory is compared with torch instead
            )
        except (ValueError, KeyError, NotImplementedError) as error:  # how Optimum says that it has no exporter
            raise UnsupportedModelError(f"Optimum cannot export {files.name}: {error}") from error
        return onnx.load(Path(folder) / "model.onnx")
