"""Command line of the benchmarks; `scripts/bench` starts it."""

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from inference.errors import InferenceError
from scripts.benchmarks.shared.corpus import DEFAULT_DATA, ROOT

DEFAULT_MODELS = ROOT / "models"


class Benchmark(StrEnum):
    """The benchmarks; each has a module with a function `run(models, data, *, quick) -> Report`."""

    SERVING = "serving"
    NLI = "nli"
    ACCURACY = "accuracy"
    CORE = "core"
    EVALUATE = "evaluate"
    SUMMARIZE = "summarize"
    HANDBOOK = "handbook"
    DOCUMENTS = "documents"
    JUDGE = "judge"
    SOAK = "soak"
    CHAOS = "chaos"
    ENDPOINTS = "endpoints"
    PROMPTS = "prompts"


# The folder of each: what measures the same thing shares it.
FOLDERS = {
    Benchmark.SERVING: "serving",
    Benchmark.SOAK: "serving",
    Benchmark.NLI: "nli",
    Benchmark.ACCURACY: "nli",
    Benchmark.CORE: "nli",
    Benchmark.EVALUATE: "evaluate",
    Benchmark.SUMMARIZE: "summaries",
    Benchmark.HANDBOOK: "summaries",
    Benchmark.DOCUMENTS: "documents",
    Benchmark.JUDGE: "judge",
    Benchmark.CHAOS: "chaos",
    Benchmark.ENDPOINTS: "endpoints",
    Benchmark.PROMPTS: "prompts",
}


def main(
    benchmark: Annotated[Benchmark, typer.Argument(help="What to measure.")],
    models: Annotated[
        Path, typer.Option(envvar="PRECIS_MODELS_DIR", help="Models folder.", file_okay=False, exists=True)
    ] = DEFAULT_MODELS,
    data: Annotated[
        Path, typer.Option(help="Folder of labelled data; where it is missing, bundled text stands in.")
    ] = DEFAULT_DATA,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Measure for less than 50 seconds on two cores.")] = False,
    without: Annotated[
        list[str] | None, typer.Option(help="judge, summarize: a rule of docs/rules to switch off; two columns.")
    ] = None,
) -> None:
    """Measure Precis on this machine. Prints a table and, as the last line, one JSON object.

    serving   Embed and Entail through gRPC, against ONNX Runtime alone on the same graph and a bare grpc.aio server.

    nli       The compiled NLI graph against the graph as shipped and against its own arithmetic; batch-invariance.

    accuracy  The installed NLI model on SNLI dev and MultiNLI dev matched.

    core      The compiled core against ONNX Runtime in fp32: speed, decisions, and bits that differ.

    evaluate  Evaluations per second, and how often a faithful summary has a smaller loss than a damaged copy.

    summarize Calls, wall time, CPU and memory of summaries, against a scripted language model.

    handbook  A manual of 350 pages (of --data) by the extractive writer: minutes, compression, terms that are kept.

    documents Pages of a PDF, chats and subtitles, formats that are refused, and questions about documents.

    judge     Agreement with people, claims of documents that no training saw, attacks, invented sentences, repetition,
              cost through gRPC.

    soak      Memory of the server over 20,000 calls, and its CPU use when nobody calls.

    chaos     Bursts, overload, crowds, idle and deaf clients, cancels, strangers' summaries, fuzz of every RPC.

    endpoints What language models' endpoints really send, played against summaries; Judge with a dead one.

    prompts   Each prompt on 24 small inputs with the endpoint of the settings: values kept, format, verdicts, tokens.
    """
    if without and benchmark not in (Benchmark.JUDGE, Benchmark.SUMMARIZE):
        raise typer.BadParameter("measures judge and summarize alone: scripts/bench summarize --without NAME")
    chosen = {"without": without} if without else {}
    # Only the chosen one is imported: `nli` needs onnx, and `serving` must not carry it.
    try:
        module = import_module(f"scripts.benchmarks.{FOLDERS[benchmark]}.{benchmark}")
        module.run(models, data, quick=quick, **chosen).show()
    except (RuntimeError, ValueError, InferenceError) as error:
        typer.echo(f"bench: {error}", err=True)
        raise typer.Exit(1) from error


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app(prog_name="scripts/bench")
