"""Installs and exports models with a progress bar for every step."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from inference.compile.export import ExportOptions, export_model
from inference.compile.install import NliPrecision, install_models
from inference.compile.staging import ProgressEvent
from inference.errors import InferenceError
from inference.models.manifest import Task
from server.cli.console import error_console, plain, print_note
from server.cli.errors import CliError


def install_with_progress(
    models_dir: Path, wheels_dir: Path | None, cache_dir: Path | None, nli_precision: NliPrecision
) -> None:
    """Installs the default models and says where they are. Raises CliError."""
    with model_errors(), StepProgress() as progress:
        installed = install_models(
            models_dir, wheels_dir=wheels_dir, cache_dir=cache_dir, nli_precision=nli_precision, progress=progress
        )
    for model in installed:
        state = "already there" if model.is_reused else "installed"
        print_note(f"{model.directory.manifest.name}: {state}, {model.directory.path}")


def export_with_progress(source: str, task: Task, output_dir: Path, options: ExportOptions) -> None:
    """Exports one model and says where it is. Raises CliError."""
    with model_errors(), StepProgress() as progress:
        directory = export_model(source, task, output_dir, options=options, progress=progress)
    print_note(f"{directory.manifest.name}: exported, {directory.path}")


@contextmanager
def model_errors() -> Iterator[None]:
    """Turns what can go wrong while models are made into one line."""
    try:
        yield
    except InferenceError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"cannot write the models: {error.strerror}: {error.filename}") from error


class StepProgress:
    """Draws a bar for every step of every model; where there is no terminal, one line when a step ends."""

    def __init__(self) -> None:
        console = error_console()
        self._is_drawn = console.is_terminal
        self._bars: dict[tuple[str, str], TaskID] = {}
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, disable=not self._is_drawn)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, event: ProgressEvent, /) -> None:
        """Takes one event of the work."""
        key = (event.step, event.subject)
        name = plain(f"{event.step} {event.subject}")
        if key not in self._bars:
            self._bars[key] = self._progress.add_task(name)
        self._progress.update(self._bars[key], completed=event.done, total=event.total)
        if event.done == event.total and not self._is_drawn:
            print_note(f"{name}: done")
