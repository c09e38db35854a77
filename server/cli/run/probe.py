"""Asks for the status of each service, and writes the contract as a descriptor set."""

from collections.abc import Sequence
from pathlib import Path

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.rpc import error_details_pb2
from precis.calls import SERVER, SERVICES, health_check
from precis.errors import NotFound
from rich.text import Text

from server.cli.connection import ONCE, open_client
from server.cli.console import Grid, output_console, print_json
from server.cli.errors import CliError, NegativeAnswer
from server.cli.options import Connection

SERVING = "SERVING"  # the one status that is good


async def check_health(services: Sequence[str], connection: Connection, *, as_json: bool, timeout_s: float) -> None:
    """Prints the status of the services, all of them by default. Raises NegativeAnswer when one does not serve."""
    statuses: dict[str, str] = {}
    async with open_client(connection, timeout_s, ONCE) as client:
        for service in services or (SERVER, *SERVICES):
            try:
                status = await client.send(health_check(service))
            except NotFound:
                statuses[service] = "UNKNOWN SERVICE"
            else:
                statuses[service] = status
    if as_json:
        print_json(statuses)
    else:
        rows = [(name, Text(status, "green" if status == SERVING else "red")) for name, status in statuses.items()]
        output_console().print(Grid(("service", "status"), rows).to_table())
    down = [name for name, status in statuses.items() if status != SERVING]
    if down:
        raise NegativeAnswer(f"not serving: {', '.join(down)}")


def write_contract(output: Path) -> None:
    """Writes all services with what they import, and the details of errors. Raises CliError."""
    pool = descriptor_pool.Default()
    files: dict[str, FileDescriptor] = {}

    def add(file: FileDescriptor) -> None:
        for imported in file.dependencies:  # stand before it, the order in which readers want them
            add(imported)
        files.setdefault(file.name, file)

    for file in (*(pool.FindServiceByName(service).file for service in SERVICES), error_details_pb2.DESCRIPTOR):
        add(file)
    contract = FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(contract.file.add())
    try:
        output.write_bytes(contract.SerializeToString(deterministic=True))
    except OSError as error:
        raise CliError(f"cannot write {output}: {error.strerror}") from error
