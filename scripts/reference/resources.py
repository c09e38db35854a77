"""Reference of what callers may hold: every resource of a server at every kind of door, with the bounds of the code."""

from asyncio.constants import SSL_HANDSHAKE_TIMEOUT
from collections.abc import Mapping
from dataclasses import dataclass

from server.config import ListenConfig
from server.http.endpoint import HttpAnswer
from server.http.http_server import _Connection
from server.observe import health, metrics_server
from server.observe.log import Repeats
from server.rpc import listener

HEAD = """\
<!-- Made by python -m scripts.reference; change the rows in scripts/reference/resources.py, the bounds in the code. -->

# What callers may hold

A resource without a bound lets one caller stop all. So every door of the server has a bound for each, and a test walks
the doors. Names with a dot are [settings](../settings.md).

"""
DOORS = {
    "call": "all RPCs of `precis.v1`, of the Open Inference Protocol and of reflection",
    "health": "`grpc.health.v1`, without a key",
    "HTTP": "the paths of the HTTP listener that are calls: JSON, events, OpenAI's, TEI's",
    "page": "`/ui`, `/openapi.json` and `/health`, without a key",
    "metrics": "`/metrics` and `/ready`, without a key",
}
"""Kinds of doors, and what is behind them."""

_OPTIONS = dict(listener.options(ListenConfig()))
_PENDING = f"{_OPTIONS['grpc.server.max_pending_requests']} that wait to be looked at"
_STREAMS = f"{_OPTIONS['grpc.max_concurrent_streams']} streams a connection"
_GRPC_AGE = f"{listener._HANDSHAKE_S} s silent, {listener._IDLE_S} s idle, {listener.AGE_S} s in all"  # noqa: SLF001
_WATCHES = f"{health._MOST_WATCHES} watches, a host as many as are free"  # noqa: SLF001
_LATE = f"one message that lags behind its headers, {health._LATE_S:g} s"  # noqa: SLF001
_READ = f"{health._LARGEST_REQUEST >> 10} KiB are read"  # noqa: SLF001
_METRICS = f"{metrics_server.MOST_CONNECTIONS}, {metrics_server.LONGEST_S:g} s each; the oldest gives way"
_HEADERS = f"{_Connection.header_bytes >> 10} KiB"
_LINES = f"in {Repeats.every_s:g} s, of {Repeats.most:,} of them at most; then their count"
_PIECES = f"pieces of {_Connection.piece_bytes >> 10} KiB while it arrives"
_PARTS = f"{_PIECES}; from {HttpAnswer.inline_bytes >> 10} KiB on in a thread, an answer in parts"


@dataclass(frozen=True)
class Resource:
    """One resource.

    Attributes:
        told: what the refused one is told.
        metric: that shows it.
        bounds: by kind of door.
    """

    name: str
    told: str
    metric: str
    bounds: Mapping[str, str]


RESOURCES = (
    Resource(
        "connections",
        "closed",
        "`process_open_fds`",
        {
            "call": f"`listen.max_connections`; {_GRPC_AGE}; from half on idle ones end, of the host with most",
            "health": "those of gRPC",
            "HTTP": f"`listen.max_connections`; {SSL_HANDSHAKE_TIMEOUT:g} s for TLS, {listener.AGE_S} s in all; "
            "likewise from half on; beyond it who waits longest for headers ends",
            "page": "those of HTTP",
            "metrics": _METRICS,
        },
    ),
    Resource(
        "streams",
        "refused by HTTP/2",
        "`precis_calls_in_flight`",
        {"call": _STREAMS, "health": f"{_STREAMS}; {_WATCHES}", "HTTP": "1", "page": "1", "metrics": "1"},
    ),
    Resource(
        "headers while they arrive",
        "closed; over HTTP 400, with the bound",
        "-",
        {
            "call": "16 KiB, by gRPC",
            "health": "16 KiB, by gRPC",
            "HTTP": f"{_HEADERS}, `listen.body_timeout_s`",
            "page": f"{_HEADERS}, `listen.body_timeout_s`",
            "metrics": "64 KiB, within the time of the connection",
        },
    ),
    Resource(
        "body while it arrives",
        "INVALID_ARGUMENT, DEADLINE_EXCEEDED",
        "`precis_calls_total`",
        {
            "call": "`listen.max_receive_mib`, `listen.body_timeout_s`; nothing is read without key and place",
            "health": f"{_READ}; {_LATE}",
            "HTTP": "`listen.max_receive_mib`, lists `listen.max_list_mib`; counted in `listen.max_request_mib`",
            "page": "none is read",
            "metrics": "none is read",
        },
    ),
    Resource(
        "decoded requests",
        "RESOURCE_EXHAUSTED with RetryInfo",
        "`precis_calls_total`",
        {
            "call": "`listen.max_request_mib`, of all; `limits.max_items`",
            "health": "the name of a service",
            "HTTP": "that of a call; 500,000 values of JSON",
            "page": "none",
            "metrics": "none",
        },
    ),
    Resource(
        "places in flight",
        "RESOURCE_EXHAUSTED with RetryInfo",
        "`precis_calls_in_flight`",
        {
            "call": f"{_PENDING}; `listen.max_concurrent_calls`; a tenant as many as are free; `auth.quotas`",
            "health": "none is taken",
            "HTTP": "those of a call",
            "page": "none is taken",
            "metrics": "none is taken",
        },
    ),
    Resource(
        "work that outlives its caller",
        "-",
        '`precis_calls_total{code="CANCELLED"}`',
        {
            "call": "the deadline of the call; a caller that leaves ends it",
            "health": "none",
            "HTTP": "`http.max_timeout_s`; a caller that leaves ends it, whatever it has sent behind",
            "page": "none",
            "metrics": "the time of the connection",
        },
    ),
    Resource(
        "answers that are not taken",
        "RESOURCE_EXHAUSTED; then closed",
        "`precis_unsent_bytes`",
        {
            "call": "`listen.max_unsent_mib`, a client as much as is free",
            "health": "a status of some bytes for each watch",
            "HTTP": "that of a call, counted as messages; closed after `listen.body_timeout_s`",
            "page": "files of some 100 KiB; closed after `listen.body_timeout_s`",
            "metrics": "the time of the connection",
        },
    ),
    Resource(
        "log lines",
        "-",
        "`precis_calls_total`",
        {
            "call": f"one for refusals of a kind by one host or key, {_LINES}",
            "health": "none",
            "HTTP": f"that of a call; one of a kind by a library, {_LINES}",
            "page": "none",
            "metrics": "none",
        },
    ),
    Resource(
        "event loop, in one piece",
        "-",
        "-",
        {
            "call": "texts are read in threads of the service",
            "health": "a lookup",
            "HTTP": f"{_PARTS}",
            "page": "a file that is kept",
            "metrics": "none: a thread of its own",
        },
    ),
)


def resources_page() -> str:
    """Returns the text of the page."""
    doors = "".join(f"| {kind} | {said} |\n" for kind, said in DOORS.items())
    parts = [HEAD, f"| door | what |\n|---|---|\n{doors}"]
    for one in RESOURCES:
        rows = "".join(f"| {kind} | {one.bounds[kind]} |\n" for kind in DOORS)
        parts.append(f"\n## {one.name[0].upper()}{one.name[1:]}\n\n| door | bound, share, time |\n|---|---|\n{rows}")
        parts.append(f"| the refused one is told | {one.told} |\n| metric | {one.metric} |\n")
    return "".join(parts)
