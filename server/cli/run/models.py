"""Packs models, shows how far their making is, and what a models folder holds."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text

from inference.compile.packed.packing import RowChoice, pack_if_possible
from inference.compile.staging import ProgressEvent
from inference.core.library import load_library
from inference.core.packed_file import CORE_FILE
from inference.errors import InferenceError
from inference.models.directory import ListedModel, ModelDirectory
from server.cli.console import print_note, shown, to_list
from server.cli.errors import CliError
from server.cli.progress import MEBIBYTE, Progress, State


def pack_with_progress(directory: ModelDirectory, rows: RowChoice) -> None:
    """Packs one model for the compiled core, where it can be, and says what will run it. Raises CliError."""
    with model_work() as progress:
        directory, problem = pack_if_possible(directory, load_library(), rows, progress=progress)
    fate = f"ONNX Runtime will run it: {problem}" if problem else packed(directory)
    print_note(f"{directory.manifest.name}: {fate}")


def packed(directory: ModelDirectory) -> str:
    """Says how a model is packed."""
    manifest, size = directory.manifest, (directory.path / CORE_FILE).stat().st_size
    change = manifest.measured["core_change"]
    return f"packed as {manifest.core}, {size / MEBIBYTE:.0f} MiB; answers to a few texts move by at most {change}"


@contextmanager
def model_work() -> Iterator[Callable[[ProgressEvent], None]]:
    """Gives what shows every step; turns what can go wrong while models are made into one line."""

    def show(event: ProgressEvent, /) -> None:
        progress.update(State(f"{event.step} {event.subject}", event.done, event.total, event.unit))

    try:
        with Progress() as progress:
            yield show
    except InferenceError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"cannot write the models: {error.strerror}: {error.filename}") from error


OK = "ok"


def to_fields(models: Sequence[ListedModel]) -> list[dict[str, Any]]:
    """Gives the models as plain data; `manifest` is null when it cannot be read."""
    return [
        vars(one)
        | {"path": str(one.path), "manifest": one.manifest and one.manifest.model_dump(mode="json", exclude_none=True)}
        for one in models
    ]


def print_models(console: Console, models: Sequence[ListedModel]) -> None:
    """Prints one model below the other, a fact a line: they are long, and a terminal may be narrow."""
    for model in models:
        rows: list[tuple[str | Text, Text]] = [
            (model.role, Text(model.status, "green" if model.status == OK else "red"))
        ]
        if manifest := model.manifest:  # with the arithmetic of the core, where it is packed, and that of ONNX Runtime
            precision = f"{manifest.core}, or {manifest.precision}" if manifest.core else manifest.precision
            facts = {"name": manifest.name, "revision": manifest.revision, "precision": precision}
            facts |= {"license": manifest.license, "tokens": str(manifest.max_tokens)}
            facts |= {"size": f"{model.size_bytes / MEBIBYTE:.1f} MiB"}
            rows += [(about, shown(fact)) for about, fact in facts.items()]
        console.print(to_list(rows), Text())
