"""Calls the models, asks for the status of each service, and prints what is answered.

Writes the contract as a descriptor set.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import mul
from pathlib import Path
from typing import TypeVar

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.rpc import error_details_pb2
from precis.calls import INFERENCE, SERVER, SERVICES, Call, health_check, rpc_path
from precis.errors import NotFound
from precis.v1 import inference_pb2 as pb
from rich.table import Table
from rich.text import Text

from server.cli.connection import ONCE, open_client
from server.cli.console import Grid, number, output_console, print_json, write
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.files import read_text, to_json_fields, to_json_line
from server.cli.options import Connection

R = TypeVar("R", pb.EmbedResponse, pb.EntailResponse)

LABEL_LIMIT = 60  # characters of a text that names a row
MATRIX_LIMIT = 12  # texts whose similarities still fit a terminal
SERVING = "SERVING"  # the one status that is good


async def embed_texts(
    texts: Sequence[str], file: Path | None, connection: Connection, *, as_json: bool, timeout_s: float
) -> None:
    """Embeds the texts and the file's lines; prints vectors or similarities."""
    lines = [line for line in read_text(file).splitlines() if line.strip()] if file else []
    request = pb.EmbedRequest(texts=[*texts, *lines])
    if not request.texts:
        raise InputError("nothing to embed: give texts, or --file FILE")
    call = Call(rpc_path(INFERENCE, "Embed"), request, pb.EmbedResponse.FromString)
    async with open_client(connection, timeout_s) as client:
        print_response(await client.send(call), partial(similarity_table, request.texts), as_json=as_json)


async def entail_pairs(
    premise: str, hypotheses: Sequence[str], connection: Connection, *, as_json: bool, timeout_s: float
) -> None:
    """Scores every hypothesis against the premise; prints the probabilities."""
    request = pb.EntailRequest(pairs=[pb.TextPair(premise=premise, hypothesis=text) for text in hypotheses])
    call = Call(rpc_path(INFERENCE, "Entail"), request, pb.EntailResponse.FromString)
    async with open_client(connection, timeout_s) as client:
        print_response(await client.send(call), partial(entailment_table, hypotheses), as_json=as_json)


def print_response(response: R, to_table: Callable[[R], Table], *, as_json: bool) -> None:
    """Prints a table, or the response as JSON. Raises CliError when items failed."""
    if as_json:
        write(to_json_line(to_json_fields(response)))
    else:
        output_console().print(to_table(response))
    errors = [result.error.message for result in response.results if result.HasField("error")]
    if errors:
        raise CliError(f"{len(errors)} items failed; the first: {errors[0]}")


def similarity_table(texts: Sequence[str], response: pb.EmbedResponse) -> Table:
    """Builds the table of tokens, and of cosines between the texts when there are few."""
    vectors = [result.embedding.values for result in response.results]
    others = vectors if len(vectors) <= MATRIX_LIMIT else []
    rows = []
    for place, (text, result, own) in enumerate(zip(texts, response.results, vectors, strict=True), 1):
        cosines = (f"{sum(map(mul, own, other)):.3f}" if own and other else "-" for other in others)
        tokens = f"{result.embedding.token_count}{' (cut)' if result.embedding.truncated else ''}"
        rows.append((f"{place} {text}", tokens, *cosines))
    headings = ("text", ">tokens", *(f">{column}" for column in range(1, len(others) + 1)))
    return Grid(headings, rows, LABEL_LIMIT).to_table(title=f"{response.model.name}: cosine")


def entailment_table(hypotheses: Sequence[str], response: pb.EntailResponse) -> Table:
    """Builds the table of probabilities."""
    scores = (result.scores for result in response.results)
    numbers = ((one.entailment, one.neutral, one.contradiction) for one in scores)
    rows = [(text, *map(partial(number, digits=3), row)) for text, row in zip(hypotheses, numbers, strict=True)]
    return Grid(("hypothesis", ">entailment", ">neutral", ">contradiction"), rows, 2 * LABEL_LIMIT).to_table()


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
