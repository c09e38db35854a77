"""Shows the model directories of a folder."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from rich import box
from rich.table import Table

from inference.config import Role
from inference.errors import ModelDirectoryError
from inference.model_directory import load_model_directory, read_model_directory
from server.cli.console import output_console, shown
from server.cli.errors import NegativeAnswer

OK = "ok"
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One row: what the manifest says; only `role` and `problem` when it cannot be read."""

    role: str
    problem: str = OK
    name: str = ""
    revision: str = ""
    precision: str = ""
    max_tokens: int = 0
    size_mib: float = 0.0
    source: str = ""
    license: str = ""


def show_models(models_dir: Path, *, check: bool, as_json: bool) -> None:
    """Prints one row for each role. Raises NegativeAnswer when the server could not start with what is there."""
    models = [describe(models_dir, role, check=check) for role in get_args(Role)]
    if as_json:
        json.dump([asdict(model) for model in models], sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        output_console().print(models_table(models))
    problems = [model.problem for model in models if model.problem != OK]
    if problems:
        raise NegativeAnswer("; ".join(problems))


def describe(models_dir: Path, role: str, *, check: bool) -> ListedModel:
    """Reads one model directory; with `check` every byte of it."""
    try:
        directory = (load_model_directory if check else read_model_directory)(models_dir / role)
        size_mib = directory.size_bytes / MEBIBYTE
    except ModelDirectoryError as error:
        return ListedModel(role, str(error))
    except OSError as error:
        return ListedModel(role, f"cannot read {models_dir / role}: {error.strerror}; run `precis models install`")
    manifest = directory.manifest
    return ListedModel(
        role=role,
        name=manifest.name,
        revision=manifest.revision,
        precision=manifest.precision,
        max_tokens=manifest.max_tokens,
        size_mib=round(size_mib, 1),
        source=manifest.source,
        license=manifest.license,
    )


def models_table(models: list[ListedModel]) -> Table:
    """Builds the table."""
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("role", "name", "revision", "precision"):
        table.add_column(heading)
    for heading in ("tokens", "MiB"):
        table.add_column(heading, justify="right")
    for heading in ("license", "status"):
        table.add_column(heading)
    for model in models:
        good = model.problem == OK
        table.add_row(
            model.role,
            shown(model.name),
            shown(model.revision, limit=16),
            shown(model.precision),
            str(model.max_tokens) if good else "",
            f"{model.size_mib:.1f}" if good else "",
            shown(model.license, limit=30),
            shown(OK if good else "not usable", style="green" if good else "red"),
        )
    return table
