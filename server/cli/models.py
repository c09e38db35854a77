"""`precis models`: puts model directories where the server looks for them, and shows what is there."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Install, export and list the models that the server runs.")

ModelsDirOption = Annotated[
    Path, typer.Option("--models-dir", envvar="PRECIS_MODELS_DIR", metavar="DIR", help="Folder with the models.")
]
DEFAULT_MODELS_DIR = Path("models")


@app.command("list")
def list_models(
    *,
    check: Annotated[bool, typer.Option("--check", help="Read every file and compare its hash.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    models_dir: ModelsDirOption = DEFAULT_MODELS_DIR,
) -> None:
    """Show the models that are there: what they are, where they come from, and whether their files are intact.

    [bold]Examples[/]

      precis models list

      precis models list --check && echo intact

    [bold]Exit codes[/]  0 both models are there and usable; 1 one is missing or damaged.
    """
    from server.cli.model_list import show_models

    show_models(models_dir, check=check, as_json=as_json)
