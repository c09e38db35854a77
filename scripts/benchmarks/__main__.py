"""Command line of the benchmarks; `scripts/bench` starts it."""

from pathlib import Path
from typing import Annotated

import typer

from scripts.benchmarks.corpus import DEFAULT_DATA, ROOT

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Benchmarks on this machine. Each prints a table and, as its last line, one JSON object.",
)

QuickOption = Annotated[bool, typer.Option("--quick", help="Measure for less than 50 seconds on two cores.")]
ModelsOption = Annotated[
    Path,
    typer.Option("--models", envvar="PRECIS_MODELS_DIR", help="Models folder.", file_okay=False, exists=True),
]
DataOption = Annotated[Path, typer.Option("--data", help="Folder of labelled data; bundled text stands in for it.")]

DEFAULT_MODELS = ROOT / "models"


# Each command imports its own module: `nli` needs onnx, `serving` must not pay for it.
@app.command()
def serving(
    models: ModelsOption = DEFAULT_MODELS, data: DataOption = DEFAULT_DATA, *, quick: QuickOption = False
) -> None:
    """Embed and Entail through gRPC, against ONNX Runtime alone on the same graph and a bare grpc.aio server."""
    from scripts.benchmarks.serving import run  # noqa: PLC0415 - see above

    run(models, data, quick=quick).show()


if __name__ == "__main__":
    app(prog_name="scripts/bench")
