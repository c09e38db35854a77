"""`precis embed` and `precis entail`: try the models from the command line.

`precis health`: asks grpc.health.v1 about every service. `precis contract`: the contract, for a proxy in front of it.
"""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Connection, JsonOption, TimeoutOption, with_options


@with_options
def embed(
    texts: Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="Texts to embed.")] = None,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="TXT", help="One text a line; - reads stdin.")
    ] = None,
    as_json: JsonOption = False,
    timeout: TimeoutOption = 60.0,
    connection: Connection,
) -> None:
    """Embed texts, and show how similar they are to each other (cosine).

    [bold]Examples[/]

      precis embed "The cat sat on the mat." "A cat was sitting there."

      precis embed --file lines.txt --json > vectors.json
    """
    from server.cli.run.probe import embed_texts

    asyncio.run(embed_texts(texts or [], file, connection, as_json=as_json, timeout_s=timeout))


@with_options
def entail(
    premise: Annotated[str, typer.Argument(help="The text that is taken as true.")],
    hypotheses: Annotated[list[str], typer.Argument(metavar="HYPOTHESIS", help="Claims to check against it.")],
    *,
    as_json: JsonOption = False,
    timeout: TimeoutOption = 60.0,
    connection: Connection,
) -> None:
    """Check claims against a premise: probabilities of entailment, neutral and contradiction.

    [bold]Example[/]

      precis entail "A man plays the guitar on stage." "Somebody makes music." "The stage is empty."
    """
    from server.cli.run.probe import entail_pairs

    asyncio.run(entail_pairs(premise, hypotheses, connection, as_json=as_json, timeout_s=timeout))


@with_options
def health(
    *,
    service: Annotated[
        list[str] | None, typer.Option("--service", metavar="NAME", help="Ask about this one only. Repeatable.")
    ] = None,
    as_json: JsonOption = False,
    timeout: TimeoutOption = 5.0,
    connection: Connection,
) -> None:
    """Show whether the server and each of its services are ready.

    [bold]Examples[/]

      precis health

      precis health --address 10.0.0.7:50051 --timeout 1 && echo ready

    [bold]Exit codes[/]  0 everything serves; 1 something does not; 3 the server cannot be reached.
    """
    from server.cli.run.probe import check_health

    asyncio.run(check_health(service or [], connection, as_json=as_json, timeout_s=timeout))


def contract(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PB", help="File to write.")],
) -> None:
    """Write the contract as a descriptor set, which Envoy, grpcurl and buf read in place of .proto files.

    It holds google.rpc's error details too, so that a proxy can show them as JSON.

    [bold]Example[/]

      precis contract -o precis.pb
    """
    from server.cli.run.probe import write_contract

    write_contract(output)
