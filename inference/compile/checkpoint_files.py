"""Reads a Hugging Face checkpoint as files: where it is, what its configuration says, its tokenizer. Imports no torch.

Fixed padding and truncation are taken out of tokenizer.json: whoever batches decides both.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inference.compile.bert import Pooling
from inference.compile.errors import MissingExtraError, UnsupportedModelError, first_line
from inference.models.directory import sha256_of
from inference.models.manifest import check_labels

_FILES = ("*.json", "*.safetensors", "*.bin", "*.txt", "*.model", "README.md", "1_Pooling/*")
_LOCAL = "local-"
_NO_LIMIT = 1_000_000  # tokenizers without a limit of their own state about 1e30
_POSITIONS_AFTER_PAD = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"})


@dataclass(frozen=True)
class CheckpointFiles:
    """A checkpoint on this machine."""

    folder: Path
    name: str  # hub id, or the folder's name
    revision: str  # commit on the hub, or a digest of local weights
    config: Mapping[str, Any]

    @property
    def source(self) -> str:
        """Where the weights came from, without the path of a local folder: manifests travel."""
        return f"local folder {self.name}" if self.revision.startswith(_LOCAL) else f"hub model {self.name}"

    def read_json(self, name: str) -> dict[str, Any]:
        """Returns the object in a file of the checkpoint, empty when there is no such file."""
        return _read_json(self.folder / name) if (self.folder / name).is_file() else {}

    @property
    def license(self) -> str:
        """What the model card's header states."""
        card = self.folder / "README.md"
        header = re.match(r"---\n(.*?)\n---", card.read_text("utf-8"), re.DOTALL) if card.is_file() else None
        stated = re.search(r"^license:\s*(\S+)", header[1], re.MULTILINE) if header else None
        return stated[1].strip("\"'") if stated else f"not stated; see {self.name}"

    @property
    def max_tokens(self) -> int:
        """The smallest limit that sentence, tokenizer and position settings state."""
        # RoBERTa and its kin count positions from pad_token_id + 1.
        reserved = 2 if self.config.get("model_type") in _POSITIONS_AFTER_PAD else 0
        limits = [
            self.read_json("sentence_bert_config.json").get("max_seq_length"),
            self.read_json("tokenizer_config.json").get("model_max_length"),
            self.config.get("max_position_embeddings", _NO_LIMIT) - reserved,
        ]
        stated = [int(limit) for limit in limits if limit is not None and 0 < limit < _NO_LIMIT]
        if not stated:
            raise UnsupportedModelError(f"{self.name} states no length limit; give one with --max-tokens")
        return min(stated)

    def id2label(self, stated: Sequence[str] = ()) -> dict[int, str]:
        """Column -> label, as stated or else as config.json says, in no assumed order.

        Raises UnsupportedModelError: not the labels of NLI, nor those of a check of facts.
        """
        written = {int(column): str(label).lower() for column, label in self.config.get("id2label", {}).items()}
        labels = dict(enumerate(stated)) or written
        try:
            check_labels(labels)
        except ValueError as error:
            raise UnsupportedModelError(f"{self.name}: {error}; --labels names them in the model's order") from error
        return labels

    @property
    def pooling(self) -> Pooling:
        """`mean` or `cls`, from the sentence-transformers modules; `mean` where there are none.

        Raises UnsupportedModelError: another pooling, or a module after it that changes the vector.
        """
        path = self.folder / "modules.json"
        listed = json.loads(path.read_text("utf-8")) if path.is_file() else []
        modules = [str(module["type"]).rpartition(".")[2] for module in listed]
        if unknown := set(modules) - {"Transformer", "Pooling", "Normalize"}:
            raise UnsupportedModelError(f"{self.name} has modules that cannot be compiled: {sorted(unknown)}")
        settings = self.read_json("1_Pooling/config.json")
        modes = [key for key, value in settings.items() if key.startswith("pooling_mode") and value is True]
        modes = [mode.removeprefix("pooling_mode_") for mode in modes] or ["mean_tokens"]
        known: dict[str, Pooling] = {"mean_tokens": "mean", "cls_token": "cls"}
        if len(modes) != 1 or modes[0] not in known:
            raise UnsupportedModelError(f"{self.name} pools by {modes}; one of {sorted(known)} can be compiled")
        return known[modes[0]]


def open_checkpoint_files(source: str, revision: str | None = None) -> CheckpointFiles:
    """Returns a local folder as it is, or downloads a hub id's files into the hub's own cache.

    Raises UnsupportedModelError: neither a folder nor a hub id that can be read.
    """
    folder = Path(source).expanduser()
    if not folder.is_dir():
        folder, revision = _download(source, revision)
        return CheckpointFiles(folder, source, revision, _read_config(folder))
    return CheckpointFiles(folder, folder.resolve().name, _weights_digest(folder), _read_config(folder))


def _download(hub_id: str, revision: str | None) -> tuple[Path, str]:
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415  # extra `export`
    except ImportError as error:
        raise MissingExtraError(error.name) from error
    try:
        folder = Path(snapshot_download(hub_id, revision=revision, allow_patterns=list(_FILES)))
    except (OSError, ValueError) as error:  # the hub's errors are both: no such model, no network, bad id
        raise UnsupportedModelError(
            f"{hub_id!r} is neither a folder nor a model that the hub gives ({first_line(error)})"
        ) from error
    return folder, folder.name  # snapshots are kept under their commit


def _weights_digest(folder: Path) -> str:
    files = [file for pattern in ("*.safetensors", "*.bin") for file in sorted(folder.glob(pattern))]
    digest = hashlib.sha256("".join(sha256_of(file) for file in files).encode())
    return f"{_LOCAL}{digest.hexdigest()[:12]}"


def _read_config(folder: Path) -> dict[str, Any]:
    if not (folder / "config.json").is_file():
        raise UnsupportedModelError(f"{folder} is no checkpoint: it has no config.json")
    return _read_json(folder / "config.json")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UnsupportedModelError(f"{path} is no readable JSON: {error}") from error
    if not isinstance(document, dict):
        raise UnsupportedModelError(f"{path} holds no JSON object")
    return document


def write_free_tokenizer(source: Path, target: Path) -> None:
    """Writes `source` to `target` without padding and truncation; nothing else changes.

    Raises UnsupportedModelError: the file is missing or is no tokenizer.
    """
    document = _read_json(source)
    if "model" not in document:
        raise UnsupportedModelError(f"{source} is no tokenizer.json: it has no model")
    free = document | {"padding": None, "truncation": None}
    target.write_text(json.dumps(free, ensure_ascii=False), encoding="utf-8")


def pad_token_id(tokenizer_json: Path, pad_token: str) -> int:
    """Returns the id of the padding token. Raises UnsupportedModelError when there is none."""
    for entry in _read_json(tokenizer_json)["added_tokens"]:
        if entry["content"] == pad_token:
            return int(entry["id"])
    raise UnsupportedModelError(f"{tokenizer_json} has no token {pad_token!r} to pad with")
