"""Shows what a models folder holds."""

import json
import sys
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from inference.models.directory import ListedModel, list_models
from server.cli.console import output_console, shown
from server.cli.errors import CliError, NegativeAnswer

OK = "ok"
MEBIBYTE = 1 << 20


def show_models(models_dir: Path, *, as_json: bool) -> None:
    """Prints one row for each role. Raises NegativeAnswer when the server could not start with what is there."""
    try:
        models = list_models(models_dir)
    except OSError as error:
        raise CliError(f"cannot read {models_dir}: {error.strerror}") from error
    if as_json:
        json.dump([to_fields(model) for model in models], sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        output_console().print(models_table(models))
    problems = [model.problem for model in models if model.status != OK]
    if problems:
        raise NegativeAnswer("; ".join(problems))


def to_fields(model: ListedModel) -> dict[str, Any]:
    """Gives one model as plain data; `manifest` is null when it cannot be read."""
    return {
        "role": model.role,
        "path": str(model.path),
        "status": model.status,
        "problem": model.problem,
        "size_bytes": model.size_bytes,
        "manifest": model.manifest.model_dump(mode="json", exclude_none=True) if model.manifest else None,
    }


def models_table(models: tuple[ListedModel, ...]) -> Table:
    """Builds the table."""
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("role", "name", "revision", "precision", "license"):
        table.add_column(heading, overflow="fold")
    for heading in ("tokens", "MiB"):
        table.add_column(heading, justify="right")
    table.add_column("status")
    for model in models:
        manifest = model.manifest
        facts = (manifest.name, manifest.revision, manifest.precision, manifest.license) if manifest else ("",) * 4
        table.add_row(
            model.role,
            *(shown(fact, limit=60) for fact in facts),
            str(manifest.max_tokens) if manifest else "",
            f"{model.size_bytes / MEBIBYTE:.1f}",
            shown(model.status, style="green" if model.status == OK else "red"),
        )
    return table
