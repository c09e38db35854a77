"""Asks for the status of each service and prints it."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import grpc
from grpc.aio import AioRpcError
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from precis.v1 import evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2
from rich import box
from rich.table import Table

from server.cli.connection import call_metadata, open_channel
from server.cli.console import output_console, shown
from server.cli.errors import NegativeAnswer
from server.cli.options import Connection

SERVER = ""  # grpc.health.v1's name for the server as a whole
SERVICES = [
    service.full_name
    for module in (evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
]
SERVING = "SERVING"


async def check_health(services: Sequence[str], connection: Connection, *, as_json: bool, timeout_s: float) -> None:
    """Prints the status of the services, all of them by default. Raises NegativeAnswer when one does not serve."""
    statuses = await ask(services or [SERVER, *SERVICES], connection, timeout_s=timeout_s)
    named = {name or "server": status for name, status in statuses.items()}
    if as_json:
        json.dump(named, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        print_table(named)
    down = [name for name, status in named.items() if status != SERVING]
    if down:
        raise NegativeAnswer(f"not serving: {', '.join(down)}")


async def ask(services: Sequence[str], connection: Connection, *, timeout_s: float) -> dict[str, str]:
    """Returns the status of each service by name."""
    metadata = call_metadata(connection)
    statuses = {}
    async with open_channel(connection) as channel:
        stub: Any = HealthStub(channel)  # the published stubs give the class no methods
        for service in services:
            request = HealthCheckRequest(service=service)
            try:
                response = await stub.Check(request, timeout=timeout_s, metadata=metadata)
            except AioRpcError as error:
                if error.code() is not grpc.StatusCode.NOT_FOUND:
                    raise
                statuses[service] = "UNKNOWN SERVICE"
            else:
                statuses[service] = HealthCheckResponse.ServingStatus.Name(response.status)
    return statuses


def print_table(statuses: dict[str, str]) -> None:
    """Prints name and status of each service."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("service")
    table.add_column("status")
    for name, status in statuses.items():
        table.add_row(shown(name), shown(status, style="green" if status == SERVING else "red"))
    output_console().print(table)
