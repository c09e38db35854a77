"""Installs and exports models with a progress bar for every step.

Shows what a models folder holds.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from inference.compile.export import ExportOptions, export_model
from inference.compile.install import install_models
from inference.compile.packed.packing import RowChoice, pack_directory, pack_if_possible
from inference.compile.quantize import PrecisionChoice
from inference.compile.staging import ProgressEvent
from inference.core.library import load_library
from inference.core.packed_file import CORE_FILE
from inference.errors import InferenceError
from inference.models.directory import ListedModel, ModelDirectory, list_models
from inference.models.manifest import Task
from server.cli.console import Grid, print_note, print_result
from server.cli.errors import CliError, NegativeAnswer
from server.cli.progress import MEBIBYTE, Progress, State


def install_with_progress(
    models_dir: Path, wheels_dir: Path | None, cache_dir: Path | None, precision: PrecisionChoice, *, is_packed: bool
) -> None:
    """Installs the default models, packs them, and says where they are. Raises CliError."""
    with model_work() as progress:
        installed = install_models(
            models_dir, wheels_dir=wheels_dir, cache_dir=cache_dir, precision=precision, progress=progress
        )
    for model in installed:
        state = "already there" if model.is_reused else "installed"
        manifest = model.directory.manifest
        print_note(f"{manifest.name}: {state} in {manifest.precision}, {model.directory.path}")
        print_note(f"{manifest.name}: licence of the weights: {manifest.license}")
        if is_packed:
            pack_with_progress(model.directory, "rows15" if precision == "fp32" else "auto")


def export_with_progress(source: str, task: Task, output_dir: Path, options: ExportOptions, *, is_packed: bool) -> None:
    """Exports one model, packs it, and says where it is. Raises CliError."""
    with model_work() as progress:
        directory = export_model(source, task, output_dir, options=options, progress=progress)
    print_note(f"{directory.manifest.name}: exported in {directory.manifest.precision}, {directory.path}")
    if is_packed:
        pack_with_progress(directory, "auto")


def pack_with_progress(directory: ModelDirectory, rows: RowChoice) -> None:
    """Packs one model for the compiled core, where it can be, and says what will run it. Raises CliError."""
    with model_work() as progress:
        directory, problem = pack_if_possible(directory, load_library(), rows, progress=progress)
    fate = f"ONNX Runtime will run it: {problem}" if problem else packed(directory)
    print_note(f"{directory.manifest.name}: {fate}")


def pack_models(models_dir: Path, tasks: Sequence[Task], rows: RowChoice) -> None:
    """Packs models for the compiled core and says how. Raises CliError."""
    for task in tasks:
        with model_work() as progress:
            directory = pack_directory(models_dir / task, load_library(), rows, progress=progress)
        print_note(f"{directory.manifest.name}: {packed(directory)}")


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
        with Progress(has_steps=True) as progress:
            yield show
    except InferenceError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"cannot write the models: {error.strerror}: {error.filename}") from error


OK = "ok"


def show_models(models_dir: Path, *, as_json: bool) -> None:
    """Prints one row for each role. Raises NegativeAnswer when the server could not start with what is there."""
    try:
        models = list_models(models_dir)
    except OSError as error:
        raise CliError(f"cannot read {models_dir}: {error.strerror}") from error
    print_result(models, to_fields, print_models, as_json=as_json)
    problems = [model.problem for model in models if model.status != OK]
    if problems:
        raise NegativeAnswer("; ".join(problems))


def to_fields(models: Sequence[ListedModel]) -> list[dict[str, Any]]:
    """Gives the models as plain data; `manifest` is null when it cannot be read."""
    return [
        {
            "role": one.role,
            "path": str(one.path),
            "status": one.status,
            "problem": one.problem,
            "size_bytes": one.size_bytes,
            "manifest": one.manifest.model_dump(mode="json", exclude_none=True) if one.manifest else None,
        }
        for one in models
    ]


def print_models(console: Console, models: Sequence[ListedModel]) -> None:
    """Prints the table."""
    rows = []
    for model in models:
        manifest, status = model.manifest, Text(model.status, "green" if model.status == OK else "red")
        facts = ("",) * 5
        if manifest:  # with the arithmetic of the core, where it is packed, and that of ONNX Runtime
            precision = f"{manifest.core}, or {manifest.precision}" if manifest.core else manifest.precision
            facts = (manifest.name, manifest.revision, precision, manifest.license, str(manifest.max_tokens))
        rows.append((model.role, *facts, f"{model.size_bytes / MEBIBYTE:.1f}", status))
    headings = ("role", "name", "revision", "precision", "license", ">tokens", ">MiB", "status")
    console.print(Grid(headings, rows, 60).to_table())
