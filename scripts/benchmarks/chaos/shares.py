"""What one caller leaves to another of what they share, and a document that wants all of the machine."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

from precis.v1 import inference_pb2
from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.chaos.load import EMBED, text
from scripts.benchmarks.chaos.victim import HEAVY, LIGHT, Metadata, Outcome, Route, connection, outcome_of, victim
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.endpoint_process import EndpointProcess, scripted
from server.cli.documents.confined import read_confined
from server.cli.errors import InputError
from tests.integration.support.raw_http2 import deaf_client
from tests.office import make_docx

_SUMMARIZE = Route("/precis.v1.SummarizeService/Summarize", is_read=True)
_PLACES, _REQUEST_MIB = 64, 2
_PAUSE_S = 6.0  # after which a client that reads nothing loses its places to others
_TRIES = 10


async def shares(models: Path) -> Mapping[str, Figure]:
    """Attacks a server with few places and a slow language model, as one tenant beside another."""
    with EndpointProcess(scripted(0.2)) as endpoint:
        settings = {
            "PRECIS_LISTEN__MAX_CONCURRENT_CALLS": str(_PLACES),
            "PRECIS_LISTEN__MAX_REQUEST_MIB": str(_REQUEST_MIB),
            "PRECIS_LLM__BASE_URL": endpoint.base_url,
            "PRECIS_LLM__MODEL": "scripted",
            "PRECIS_LLM__RATES__MAX_CONCURRENCY": "4",
            "PRECIS_SUMMARY_TRUST__EXACT": "false",
        }
        with victim(models, settings) as server:
            return {
                "llm_fair_ratio": await _endpoint(server),
                "request_bytes_served": await _request_bytes(server),
                "unread_places_served": await _unread_places(server),
            }


def document_bomb(*, quick: bool) -> Mapping[str, Figure]:
    """Reads documents that unpack to more than there is. Returns the longest time until the sentence; inf without."""
    raws = ["<w:p/>" * 8_000_000, "<w:tbl><w:tr><w:tc>" * 10_000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 10_000]
    longest_s = 0.0
    for raw in raws[: 1 if quick else None]:
        started_s = time.monotonic()
        try:
            read_confined(make_docx(raw=raw), ".docx")
        except InputError:
            longest_s = max(longest_s, time.monotonic() - started_s)
        else:
            longest_s = float("inf")
    return {"document_bomb_s": longest_s}


def _summary(name: str, sections: int) -> bytes:
    said = (
        f"Section {at} of {name}. Pump {at} runs at {at * 7 % 991} bar in hall {at % 97}. " for at in range(sections)
    )
    document = pb.Document(document_id=name, text="".join(said))
    return pb.SummarizeRequest(document=document).SerializeToString()


async def _summarized(server: PrecisServer, name: str, sections: int, key: Metadata) -> Outcome:
    async with connection(server) as channel:
        return await outcome_of(_SUMMARIZE.begin(channel, [_summary(name, sections)], 120, key), is_read=True)


async def _endpoint(server: PrecisServer) -> float:
    """Returns how often longer a summary takes beside 20 of another tenant; inf if it is refused."""
    alone = await _summarized(server, "alone", 60, LIGHT)
    crowd = [asyncio.create_task(_summarized(server, f"crowd {at}", 300, HEAVY)) for at in range(20)]
    await asyncio.sleep(2)
    beside = await _summarized(server, "beside", 60, LIGHT)
    await _cancelled(crowd)
    return beside.seconds / alone.seconds if beside.is_answered else float("inf")


async def _request_bytes(server: PrecisServer) -> float:
    """Returns which share of calls of 50 kB is served beside another tenant's documents, of all sizes."""
    sizes = [8_000] * 4 + [700] * 16  # sections of 65 bytes
    crowd = [asyncio.create_task(_summarized(server, f"large {at}", one, HEAVY)) for at, one in enumerate(sizes)]
    await asyncio.sleep(2)
    async with connection(server) as channel:
        found = [await outcome_of(EMBED.begin(channel, [_long(at)], 30, LIGHT)) for at in range(_TRIES)]
    await _cancelled(crowd)
    return sum(one.is_answered for one in found) / _TRIES


def _long(number: int) -> bytes:
    return inference_pb2.EmbedRequest(texts=[f"{number} " + "Pump seven hums. " * 3_000]).SerializeToString()


async def _unread_places(server: PrecisServer) -> float:
    """Returns which share of a tenant's calls is served beside its own streams that nobody reads."""
    async with deaf_client(server.address) as deaf:
        for number in range(2 * _PLACES):
            await deaf.call(_SUMMARIZE.path, _summary(f"unread {number}", 2), "heavy-key")
        await asyncio.sleep(_PAUSE_S)
        async with connection(server) as channel:
            found = [await outcome_of(EMBED.begin(channel, [text()], 30, HEAVY)) for _ in range(_TRIES)]
    return sum(one.is_answered for one in found) / _TRIES


async def _cancelled(tasks: list[asyncio.Task[Outcome]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
