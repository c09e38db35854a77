"""Who may come in: keys, calls in flight and each caller's share of them, bytes that wait in either direction.

A caller is a tenant, or without keys the host at the other end. Places, bytes of requests and bytes of answers are
shared in one way. A call that waits for its client loses its place when others want it.
"""

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from grpc.aio import ServicerContext

from server.config import ListenConfig
from server.errors import RequestTimeoutError, TooManyCallsError
from server.rpc.auth import Caller, KeyRing
from server.rpc.quota import Quotas, TenantQuota

Context = ServicerContext[Any, Any]
T = TypeVar("T")

RETRY_AFTER_S = 1.0  # calls take tens of milliseconds: by then the crowd has gone
MIB = 1 << 20
_LONGEST_RETRY_S = 30.0
_LONGEST_JITTER = 0.5  # of a retry time: who is refused together shall not come back together
_RATE_CALLS = 64  # over which it is measured how fast calls end


class DrainRate:
    """How fast calls end: what a refused one needs to know."""

    def __init__(self, clock: Callable[[], float], jitter: Callable[[], float]) -> None:
        """Takes a clock in seconds, and what spreads retry times: numbers in [0, 1)."""
        self._clock = clock
        self._jitter = jitter
        self._ended_s: deque[float] = deque(maxlen=_RATE_CALLS)

    def note_end(self, in_flight: int) -> None:
        """Notes that a call has ended, and how many are left."""
        if in_flight:
            self._ended_s.append(self._clock())
        else:
            self._ended_s.clear()  # what follows may be an idle time, which is no rate

    def retry_after_s(self, in_flight: int) -> float:
        """Returns when half of the calls will have ended at the rate of the last ones; 1 to 45 s, spread."""
        span_s = self._clock() - self._ended_s[0] if self._ended_s else 0.0
        half_s = in_flight / 2 * span_s / max(1, len(self._ended_s))
        return min(max(half_s, RETRY_AFTER_S), _LONGEST_RETRY_S) * (1 + _LONGEST_JITTER * self._jitter())


class Shared:
    """Dynamic thresholds (Choudhury and Hahne 1998): an owner may have as much as nobody uses.

    Alone that is half of what there is, beside another a third, so there is always room for one who comes. What is
    alone is let in whatever its size.
    """

    def __init__(self, limit: int, words: str, unit: int = 1) -> None:
        """Takes the bound, and the words of a refusal around an amount in units."""
        self._limit, self._words, self._unit = limit, words, unit
        self.used = 0
        self.of = Counter[str]()

    def refusal(self, owner: str, size: int, *, growing: int = 0) -> str | None:
        """Says why an owner cannot have so much more now; None: it can. Nobody, "", shares with nobody.

        Args:
            growing: how much the owner has already of what this is a part of.
        """
        own = self.of[owner]
        if self.used > growing and self.used + size > self._limit:
            return f"{self._words.format(self.used // self._unit)}, the most this server accepts"
        if owner and own > growing and own + size > self._limit - self.used:
            return f"{self._words.format(own // self._unit)} for this caller, all but the share of others"
        return None

    def add(self, owner: str, size: int) -> None:
        """Counts in, or with a negative size out."""
        self.used += size
        take(self.of, owner, -size)


class CallAdmission:
    """Counts what is in flight, and refuses what would be too much."""

    def __init__(
        self,
        listen: ListenConfig,
        keys: KeyRing | None = None,
        quotas: Quotas | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Takes the bounds; who may call, None: anybody; what each tenant may have; and what `DrainRate` needs."""
        self.clock = clock
        self._rate = DrainRate(clock, jitter)
        self._keys = keys
        self._quotas = quotas
        self.calls = Shared(listen.max_concurrent_calls, "{} calls are in flight")
        self.received = Shared(listen.max_request_mib * MIB, "requests of {} MiB are being worked on", MIB)
        self.unsent = Shared(listen.max_unsent_mib * MIB, "answers of {} MiB wait to be read", MIB)
        self._waits: dict[asyncio.Timeout, tuple[Place, float, bool]] = {}  # for clients, the longest first
        self._calls_at = Counter[str]()

    def caller_of(self, context: Context) -> Caller:
        """Returns who calls. Raises UnauthenticatedError."""
        return self._keys.caller_of(context.invocation_metadata()) if self._keys else Caller(share=context.peer())

    def quota_of(self, caller: Caller) -> TenantQuota | None:
        """Returns what a caller has left; None without quotas."""
        return self._quotas.of(caller) if self._quotas and caller.tenant else None

    def is_busy(self, peer: str) -> bool:
        """Tells whether a connection has a call, or has not taken its answer."""
        return peer in self._calls_at

    def enter(self, caller: Caller, quota: TenantQuota | None = None, peer: str = "") -> "Place":
        """Gives a call its place, before anything of its request is read. Raises TooManyCallsError."""
        owner = "" if self._keys is not None and self._keys.tenant_count == 1 else owner_of(caller)
        if quota is not None:
            quota.check(self.calls.of[owner])
        if self.calls.refusal(owner, 1) and not self._end_longest_wait(owner):
            self.check(self.calls, owner, 1)
        self.check(self.unsent, owner, 1)
        self.calls.add(owner, 1)
        self._calls_at[peer] += 1
        return Place(self, owner, peer)

    def check(self, shared: Shared, owner: str, size: int, *, growing: int = 0) -> None:
        """Raises TooManyCallsError where an owner cannot have so much more."""
        if reason := shared.refusal(owner, size, growing=growing):
            retry_after_s = self._rate.retry_after_s(self.calls.used)
            raise TooManyCallsError(f"{reason}; try again later", retry_after_s=retry_after_s)

    def leave(self, owner: str, peer: str, request_bytes: int) -> None:
        """Takes back a place."""
        self.calls.add(owner, -1)
        self._rate.note_end(self.calls.used)
        self.received.add(owner, -request_bytes)
        take(self._calls_at, peer, 1)

    def hold(self, context: Context, owner: str, size: int) -> None:
        """Counts an answer until the client has taken it, or has gone."""
        self.unsent.add(owner, size)
        peer = context.peer()
        self._calls_at[peer] += 1

        def release(_: Any) -> None:  # noqa: ANN401 - the context
            self.unsent.add(owner, -size)
            take(self._calls_at, peer, 1)

        context.add_done_callback(release)  # type: ignore[arg-type]  # the stubs ask for a class of their own

    async def wait(self, place: "Place", client: Awaitable[T], limit_s: float, *, is_read: bool) -> T:
        """Waits for a client: at most so long, and a few seconds when a call of its owner wants the place.

        Raises:
            RequestTimeoutError: it did nothing.
        """
        timeout, since_s = asyncio.timeout(limit_s), self.clock()
        self._waits[timeout] = place, since_s, is_read
        try:
            async with timeout:
                return await client
        except TimeoutError:
            raise RequestTimeoutError(self.clock() - since_s) from None
        finally:
            del self._waits[timeout]

    def _end_longest_wait(self, owner: str) -> bool:
        """Ends one of an owner's waits. Returns False when there is none that is long."""
        most_s = self.clock() - 5.0  # few pauses of a slow network are so long
        for timeout, (place, since_s, is_read) in self._waits.items():
            if since_s > most_s:
                break
            is_ending = timeout.expired() or timeout.when() == 0
            if place.owner == owner and not is_ending and (place.is_idle_since(most_s) or not is_read):
                timeout.reschedule(0)
                return True
        return False


@dataclass(slots=True, eq=False)
class Place:
    """A call's place among those in flight: a context manager that gives it back."""

    _admission: CallAdmission
    owner: str
    _peer: str
    _request_bytes: int = 0
    _last_bytes: int = 0
    _finished_s: float = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._admission.leave(self.owner, self._peer, self._request_bytes)

    async def read(self, context: Context, limit_s: float) -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        """Returns what the client sends next. Raises RequestTimeoutError."""
        return await self._admission.wait(self, context.read(), limit_s, is_read=True)

    async def write(self, context: Context, raw: bytes, limit_s: float) -> None:
        """Waits until the client takes a part of the answer. Raises RequestTimeoutError."""
        try:
            await self._admission.wait(self, context.write(raw), limit_s, is_read=False)
        except RequestTimeoutError:
            self._admission.hold(context, self.owner, len(raw) + (16 << 10))  # gRPC keeps it, and its stream
            raise

    def is_idle_since(self, since_s: float) -> bool:
        """Tells whether nothing that the client sent has been worked on since then."""
        return not self._request_bytes and self._finished_s <= since_s

    def receive(self, size: int, *, is_part: bool = False) -> None:
        """Counts a message of the call before it is parsed, or a part of its only one. Raises TooManyCallsError."""
        growing = self._request_bytes if is_part else 0
        self._admission.check(self._admission.received, self.owner, size, growing=growing)
        self._admission.received.add(self.owner, size)
        self._request_bytes += size
        self._last_bytes = size

    def receive_whole(self, size: int) -> None:
        """Counts the call's only message, of which parts may have come in another form. Raises TooManyCallsError."""
        self.receive(max(0, size - self._request_bytes), is_part=True)

    def take(self) -> int:
        """Returns the size of the message that was received last, once: whoever takes it says when it is finished."""
        size, self._last_bytes = self._last_bytes, 0
        return size

    def finish(self, size: int) -> None:
        """Counts out a message of a stream that has been answered."""
        self._admission.received.add(self.owner, -size)
        self._request_bytes -= size
        self._finished_s = self._admission.clock()

    def hold(self, context: Context, size: int) -> None:
        """Counts the call's answer beyond its end, until it is sent. Raises TooManyCallsError: it is not sent.

        Many calls may have come in before the first of their answers was there.
        """
        self._admission.check(self._admission.unsent, self.owner, size)
        self._admission.hold(context, self.owner, size)


def owner_of(caller: Caller) -> str:
    """Returns with whom a caller shares: its tenant, or without keys the host at the other end."""
    return caller.tenant or host_of(caller.share)


def host_of(peer: str) -> str:
    """Returns the other end of a connection without its port."""
    return peer.rpartition(":")[0]


def take(counter: Counter[str], key: str, size: int) -> None:
    """Subtracts, and forgets who has nothing left."""
    counter[key] -= size
    if counter[key] <= 0:
        del counter[key]
