"""Commands that try a server: its health, its contract, and how fast it answers."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from server.cli.console import Grid, print_result, shown
from server.cli.errors import NegativeAnswer
from server.cli.options import Connection, JsonOption, ReportOption, TimeoutOption, check_files, command

if TYPE_CHECKING:
    from google.protobuf.descriptor import FileDescriptor

SERVING = "SERVING"  # the one status that is good


@dataclass(frozen=True)
class LoadOptions:
    """What is to be measured, and where it goes."""

    rate: Annotated[
        list[float] | None,
        Option("--rate", "-r", min=0.001, metavar="R", help="Calls a second of an open loop. Repeatable."),
    ] = None
    callers: Annotated[
        list[int] | None,
        Option("--callers", "-c", min=1, max=4096, help="Callers of a closed loop (default 8). Repeatable."),
    ] = None
    seconds: Annotated[float, Option("--seconds", "-s", min=0.1, help="Measured time of each loop.")] = 10.0
    warmup: Annotated[float, Option(min=0, metavar="SECONDS", help="Time before it, not measured.")] = 2.0
    data: Annotated[
        Path | None,
        Option("--data", "-d", metavar="JSONL", help="Requests, one a line, as grpcurl takes them; - reads stdin."),
    ] = None
    report: ReportOption = None
    as_json: JsonOption = False
    timeout_s: TimeoutOption = 60.0


@command(
    "precis health",
    "precis health --address 10.0.0.7:50051 --timeout 1 && echo ready",
    exits="0 everything serves; 1 something does not; 3 the server cannot be reached.",
)
async def health(
    *,
    service: Annotated[list[str] | None, Option(metavar="NAME", help="Ask about this one only. Repeatable.")] = None,
    as_json: JsonOption = False,
    timeout_s: TimeoutOption = 5.0,
    connection: Connection,
) -> None:
    """Show whether the server and each of its services are ready."""
    from server.cli.connection import ONCE, open_client

    async with open_client(connection, timeout_s, ONCE) as client:
        statuses = await client.health(*(service or ()))
    rows = [(name, shown(status, style="green" if status == SERVING else "red")) for name, status in statuses.items()]
    table = Grid(("service", "status"), rows).to_table()
    print_result(statuses, dict, lambda console, _: console.print(table), as_json=as_json)
    if down := [name for name, status in statuses.items() if status != SERVING]:
        raise NegativeAnswer(f"not serving: {', '.join(down)}")


@command("precis contract -o precis.pb")
def contract(*, output: Annotated[Path, Option("--output", "-o", metavar="PB", help="File to write.")]) -> None:
    """Write the contract as a descriptor set, which Envoy, grpcurl and buf read in place of .proto files.

    It holds google.rpc's error details too, so that a proxy can show them as JSON.
    """
    check_files([], output)
    from google.protobuf import descriptor_pool
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.rpc import error_details_pb2
    from precis.calls import SERVICES

    pool, written, names = descriptor_pool.Default(), FileDescriptorSet(), set[str]()

    def add(file: "FileDescriptor") -> None:
        for imported in file.dependencies:  # stand before it, the order in which readers want them
            add(imported)
        if file.name not in names:
            names.add(file.name)
            file.CopyToProto(written.file.add())

    for file in (*(pool.FindServiceByName(service).file for service in SERVICES), error_details_pb2.DESCRIPTOR):
        add(file)
    output.write_bytes(written.SerializeToString(deterministic=True))


@command(
    "precis load entail --callers 16",
    "precis load judge --rate 5 --rate 10 --rate 20 --report load.html",
    "precis load oip:my_model --data requests.jsonl --rate 100 --address triton:8001",
    exits="0 measured; 2 the input has to change; 4 nothing was answered.",
)
async def load(
    rpc: Annotated[
        str,
        Argument(
            metavar="RPC", help="embed, entail, judge, oip:MODEL; with --data evaluate, summarize, SERVICE/METHOD too."
        ),
    ],
    *,
    options: LoadOptions,
    connection: Connection,
) -> None:
    """Measure how fast a server answers: percentiles of the waits against rates.

    An open loop (--rate) calls at times drawn beforehand, whatever the server does.
    It counts from the time that was drawn: waits behind slow calls count. A closed
    loop (--callers) finds the highest rate, and says nothing about waits. Without
    --data texts are made up, each another, for embed, entail, judge and the models
    of these names by oip:. Refused calls are not made again.
    """
    check_files([options.data] if options.data else [], options.report)
    from server.cli.load import run_load

    await run_load(rpc, options, connection)
