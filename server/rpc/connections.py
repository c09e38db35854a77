"""Who keeps a connection when there are many: nobody keeps others out with connections that do nothing.

gRPC can bound connections, but then refuses whoever comes, and tells nobody which it has. Of HTTP's nobody sees those
that have not agreed on keys yet. So this looks at the sockets of the process, which cost nothing while they are few.
"""

import asyncio
import logging
import resource
import socket
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

from server.rpc.admission import host_of

logger = logging.getLogger(__name__)

_DESCRIPTORS = Path("/dev/fd")
_OWN_DESCRIPTORS = 256  # of models, databases, endpoints, logs and metrics
_EVERY_S = 0.25


def fitting(max_connections: int, listeners: int) -> int:
    """Returns how many connections each listener may have. Raises the process's limit of descriptors for them."""
    wanted = max_connections * listeners + _OWN_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return max_connections
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == wanted:
        return max_connections
    fit = max(2, (soft - _OWN_DESCRIPTORS) // listeners)
    logger.warning("event=few_descriptors limit=%d max_connections=%d instead_of=%d", soft, fit, max_connections)
    return fit


class Connections:
    """Those that were accepted on one port.

    Args:
        limit: from half of it on, those without a call end.
        is_busy: tells whether a peer, as gRPC writes it, has a call.
    """

    def __init__(self, port: int, limit: int, is_busy: Callable[[str], bool]) -> None:
        self._port = port
        self._most = limit // 2
        self._is_busy = is_busy
        self._oldest_first: list[str] = []

    async def watch(self) -> None:
        """Makes room again and again, until it is cancelled."""
        while True:
            await asyncio.to_thread(self.make_room)  # 45 ms at 4,000 connections
            await asyncio.sleep(_EVERY_S)

    def make_room(self) -> None:
        """Ends connections without a call while more than half are open: of the host with most, the oldest first."""
        descriptors: Iterable[int] = range(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        with suppress(OSError):  # none is left to list them with
            descriptors = sorted(int(entry.name) for entry in _DESCRIPTORS.iterdir())
            if len(descriptors) <= self._most:
                return
        found = {peer: number for number in descriptors if (peer := self._peer_at(number))}
        known = set(self._oldest_first)
        kept = [peer for peer in self._oldest_first if peer in found]
        self._oldest_first = kept + [peer for peer in found if peer not in known]
        of_host = Counter(map(host_of, found))
        idle = [peer for peer in self._oldest_first if not self._is_busy(peer)]
        idle.sort(key=lambda peer: -of_host[host_of(peer)])
        ended = idle[: max(0, len(found) - self._most)]
        for peer in ended:
            self._peer_at(found[peer], end=peer)
        if ended:
            logger.warning("event=idle_connections_ended count=%d open=%d", len(ended), len(found))

    def _peer_at(self, number: int, end: str | None = None) -> str | None:
        """Returns who is connected to the port by a descriptor, and ends the connection when it is `end`'s."""
        with suppress(OSError), ExitStack() as stack:
            connection = socket.socket(fileno=number)
            stack.callback(connection.detach)  # it stays open; a copy needs a descriptor, and none may be left
            if connection.getsockname()[1:2] == (self._port,):  # a name is no tuple: of a Unix socket
                peer = as_grpc_writes_it(*connection.getpeername()[:2])
                if peer == end:
                    connection.shutdown(socket.SHUT_RDWR)
                return peer
        return None


def as_grpc_writes_it(host: str, port: int) -> str:
    """Names a peer."""
    host = host.removeprefix("::ffff:")  # IPv4 at a socket of IPv6
    return f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"
