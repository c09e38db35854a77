"""`precis health`: asks grpc.health.v1 about every service."""

import asyncio
from typing import Annotated

import typer

from server.cli.options import (
    DEFAULT_ADDRESS,
    AddressOption,
    ApiKeyFileOption,
    Connection,
    TimeoutOption,
    TlsCaOption,
    TlsCertOption,
    TlsKeyOption,
)


def health(
    *,
    service: Annotated[
        list[str] | None, typer.Option("--service", metavar="NAME", help="Ask about this one only. Repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    timeout: TimeoutOption = 5.0,
    address: AddressOption = DEFAULT_ADDRESS,
    tls_ca: TlsCaOption = None,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
    api_key_file: ApiKeyFileOption = None,
) -> None:
    """Show whether the server and each of its services are ready.

    [bold]Examples[/]

      precis health

      precis health --address 10.0.0.7:50051 --timeout 1 && echo ready

    [bold]Exit codes[/]  0 everything serves; 1 something does not; 3 the server cannot be reached.
    """
    from server.cli.health_check import check_health

    connection = Connection(address, tls_ca, tls_cert, tls_key, api_key_file)
    asyncio.run(check_health(service or [], connection, as_json=as_json, timeout_s=timeout))
