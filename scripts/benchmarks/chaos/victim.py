"""The server under attack, with three tenants, and what its clients see of it."""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

import grpc
from google.rpc import error_details_pb2, status_pb2

from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage

HEAVY, LIGHT, STRANGER = ((("authorization", f"Bearer {name}-key"),) for name in ("heavy", "light", "stranger"))
Metadata = Sequence[tuple[str, str]]
_OWN_CONNECTION = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]


@contextmanager
def victim(
    models: Path, more: Mapping[str, str] = MappingProxyType({}), descriptors: int | None = None
) -> Iterator[PrecisServer]:
    """Starts a server that knows the keys of this module and keeps its summaries in a folder that goes.

    Args:
        more: settings, by their variables.
        descriptors: that the server may have open.
    """
    with TemporaryDirectory() as name:
        keys = Path(name) / "keys"
        keys.write_text("heavy-key\nlight-key\nstranger-key\n", encoding="utf-8")
        settings = {
            "PRECIS_AUTH__KEYS_FILE": str(keys),
            "PRECIS_SUMMARY_STORAGE__DIRECTORY": str(Path(name) / "summaries"),
            "PRECIS_INFERENCE__CACHE__MAX_BYTES": str(2 << 20),  # soon full: what grows later is a leak
            "PRECIS_INFERENCE__RUNTIME__WARMUP_S": "1",
            "PRECIS_LOG__LEVEL": "info",
            "PRECIS_LOG__OK_CALL_SAMPLE": "0",
            **more,
        }
        with PrecisServer(models, settings, descriptors) as server:
            yield server


def connection(server: PrecisServer) -> grpc.aio.Channel:
    """Opens a connection that no other channel shares."""
    return grpc.aio.insecure_channel(server.address, options=_OWN_CONNECTION)


class Outcome(NamedTuple):
    """How a call ended.

    Attributes:
        retry_delay_s: when the server asked to be called again; None if it did not say.
    """

    code: str
    seconds: float
    message: str
    answers: tuple[bytes, ...] = ()
    retry_delay_s: float | None = None

    @property
    def is_answered(self) -> bool:
        """The call did what it was for."""
        return self.code == "OK"


@dataclass(frozen=True)
class Route:
    """A method as bytes.

    Attributes:
        is_fed: takes a stream.
        is_read: answers with a stream.
    """

    path: str
    is_fed: bool = False
    is_read: bool = False

    def begin(self, channel: grpc.aio.Channel, requests: Sequence[bytes], timeout_s: float, key: Metadata) -> Any:  # noqa: ANN401
        """Begins a call."""
        kind = f"{'stream' if self.is_fed else 'unary'}_{'stream' if self.is_read else 'unary'}"
        method: Any = getattr(channel, kind)(self.path)
        return method(iter(requests) if self.is_fed else requests[0], timeout=timeout_s, metadata=key)


async def outcome_of(call: Any, *, is_read: bool = False) -> Outcome:  # noqa: ANN401
    """Waits for the end of a call."""
    started_s = time.monotonic()
    try:
        answers = tuple([message async for message in call]) if is_read else (await call,)
    except grpc.aio.AioRpcError as error:
        seconds = time.monotonic() - started_s
        return Outcome(error.code().name, seconds, error.details() or "", retry_delay_s=_retry_delay_s(error))
    return Outcome("OK", time.monotonic() - started_s, "", answers)


def _retry_delay_s(error: grpc.aio.AioRpcError) -> float | None:
    trailers: Any = error.trailing_metadata() or ()
    for name, value in trailers:
        if name == "grpc-status-details-bin":
            info = error_details_pb2.RetryInfo()
            for detail in status_pb2.Status.FromString(value).details:
                if detail.Unpack(info):
                    return float(info.retry_delay.ToTimedelta().total_seconds())
    return None


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class PeakMemory:
    """The most resident memory of a process since this was made, in MB (10^6 bytes)."""

    def __init__(self, pid: int) -> None:
        self._folder = Path("/proc") / str(pid)
        (self._folder / "clear_refs").write_text("5")  # begins a new high-water mark

    def read_mb(self) -> float:
        """Reads the mark."""
        line = next(line for line in (self._folder / "status").read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6


def busy_s_after(pid: int, grace_s: float, limit_s: float) -> float:
    """Returns how long a process goes on working after `grace_s`; at most `limit_s`.

    Waits for real: what is measured is what a server does once nobody asks any more.
    """
    time.sleep(grace_s)
    started_s, last_busy_s = time.monotonic(), 0.0
    before = read_usage(pid).cpu_s
    while (now_s := time.monotonic() - started_s) < limit_s:
        time.sleep(_WINDOW_S)
        used = read_usage(pid).cpu_s
        if used - before < _IDLE_SHARE * _WINDOW_S:
            return last_busy_s
        before, last_busy_s = used, now_s + _WINDOW_S
    return limit_s


_WINDOW_S = 0.25
_IDLE_SHARE = 0.2  # of a core: health checks, the collector and the clock's own granularity of 10 ms
