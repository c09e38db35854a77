"""Who may come in: keys, calls in flight and each caller's share of them, bytes that wait in either direction.

A caller is a tenant, or without keys the host at the other end. It may have as much as nobody uses (Choudhury and Hahne
1998, dynamic thresholds): alone up to half of what there is, beside another a third, so that there is always room for
one who comes. Calls are shared between tenants alone, since without keys all callers may be one proxy.
"""

import random
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from grpc.aio import ServicerContext

from server.config import ListenConfig, QuotaConfig
from server.errors import TooManyCallsError
from server.rpc.auth import Caller, KeyRing
from server.rpc.quota import Quotas, TenantQuota

Context = ServicerContext[Any, Any]

RETRY_AFTER_S = 1.0  # calls take tens of milliseconds: by then the crowd has gone
MIB = 1 << 20
_LONGEST_RETRY_S = 30.0
_LONGEST_JITTER = 0.5  # of a retry time: who is refused together shall not come back together
_RATE_CALLS = 64  # over which it is measured how fast calls end


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """What every call is subject to.

    Attributes:
        max_concurrent_calls: more are refused.
        ok_call_sample: one of N successful calls gets a log line; 0: none.
        keys: who may call; None: anybody.
        quotas: what each tenant may have; None: no limits of their own.
        body_timeout_s: how long a request may take to arrive.
        idle_timeout_s: how long a stream may send nothing.
        max_request_bytes: of all requests that are worked on.
        max_unsent_bytes: of all answers that clients have not taken yet.
        max_response_bytes: of one message of an answer.
    """

    max_concurrent_calls: int
    ok_call_sample: int = 1
    keys: KeyRing | None = None
    quotas: Quotas | None = None
    body_timeout_s: float = 30.0
    idle_timeout_s: float = 600.0
    max_request_bytes: int = 512 * MIB
    max_unsent_bytes: int = 256 * MIB
    max_response_bytes: int = 64 * MIB

    @classmethod
    def of(
        cls, listen: ListenConfig, ok_call_sample: int, keys: KeyRing | None, quotas: Mapping[str, QuotaConfig]
    ) -> "CallPolicy":
        """Makes that of the settings."""
        return cls(
            listen.max_concurrent_calls,
            ok_call_sample,
            keys,
            Quotas(quotas) if quotas else None,
            body_timeout_s=listen.body_timeout_s,
            idle_timeout_s=listen.idle_timeout_s,
            max_request_bytes=listen.max_request_mib * MIB,
            max_unsent_bytes=listen.max_unsent_mib * MIB,
            max_response_bytes=listen.max_send_mib * MIB,
        )


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


class CallAdmission:
    """Counts what is in flight, and refuses what would be too much."""

    def __init__(
        self,
        policy: CallPolicy,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Takes what `DrainRate` needs."""
        self._rate = DrainRate(clock, jitter)
        self.in_flight = 0
        self.unsent_bytes = 0
        self._policy = policy
        self._calls_of = Counter[str]()
        self._request_bytes = 0
        self._unsent_bytes_of = Counter[str]()
        self._calls_at = Counter[str]()

    def caller_of(self, context: Context) -> Caller:
        """Returns who calls. Raises UnauthenticatedError."""
        keys = self._policy.keys
        return keys.caller_of(context.invocation_metadata()) if keys else Caller(share=context.peer())

    def quota_of(self, caller: Caller) -> TenantQuota | None:
        """Returns what a caller has left; None without quotas."""
        quotas = self._policy.quotas
        return quotas.of(caller) if quotas and caller.tenant else None

    def is_busy(self, peer: str) -> bool:
        """Tells whether a connection has a call, or has not taken its answer."""
        return peer in self._calls_at

    def enter(self, caller: Caller, quota: TenantQuota | None = None, peer: str = "") -> "Place":
        """Gives a call its place, before anything of its request is read. Raises TooManyCallsError."""
        policy = self._policy
        owner = caller.tenant or host_of(caller.share)
        if quota is not None:
            quota.check(self._calls_of[owner])
        free = policy.max_concurrent_calls - self.in_flight
        if free <= 0:
            limit = policy.max_concurrent_calls
            raise self._refusal(f"{limit} calls are in flight, the most this server accepts")
        is_shared = policy.keys is not None and policy.keys.tenant_count > 1
        if is_shared and self._calls_of[owner] >= free:
            raise self._refusal(
                f"{self._calls_of[owner]} calls of this key's owner are in flight, all but the share of others"
            )
        self._check_unsent(owner, 1)
        self.in_flight += 1
        self._calls_of[owner] += 1
        self._calls_at[peer] += 1
        return Place(self, owner, peer)

    def receive(self, own: int, size: int) -> None:
        """Counts more of a request that has some. Raises TooManyCallsError; an only one is let in whatever its size."""
        if self._request_bytes > own and self._request_bytes + size > self._policy.max_request_bytes:
            raise self._refusal(f"requests of {self._request_bytes // MIB} MiB are being worked on")
        self._request_bytes += size

    def finish(self, size: int) -> None:
        """Counts out what was received."""
        self._request_bytes -= size

    def leave(self, owner: str, peer: str, request_bytes: int) -> None:
        """Takes back a place."""
        self.in_flight -= 1
        self._rate.note_end(self.in_flight)
        self.finish(request_bytes)
        take(self._calls_of, owner, 1)
        take(self._calls_at, peer, 1)

    def hold(self, context: Context, owner: str, size: int) -> None:
        """Counts an answer until the client has taken it, or has gone. Raises TooManyCallsError: it is not sent.

        Many calls may have come in before the first of their answers was there. An only answer is sent whatever its
        size.
        """
        self._check_unsent(owner, size)
        self.unsent_bytes += size
        self._unsent_bytes_of[owner] += size
        peer = context.peer()
        self._calls_at[peer] += 1

        def release(_: Any) -> None:  # noqa: ANN401 - the context
            self.unsent_bytes -= size
            take(self._unsent_bytes_of, owner, size)
            take(self._calls_at, peer, 1)

        context.add_done_callback(release)  # type: ignore[arg-type]  # the stubs ask for a class of their own

    def _check_unsent(self, owner: str, size: int) -> None:
        own = self._unsent_bytes_of[owner]
        if own and own + size > self._policy.max_unsent_bytes - self.unsent_bytes:
            raise self._refusal("answers wait to be read by this client; read them first")

    def _refusal(self, reason: str) -> TooManyCallsError:
        return TooManyCallsError(f"{reason}; try again later", retry_after_s=self._rate.retry_after_s(self.in_flight))


class Place:
    """A call's place among those in flight: a context manager that gives it back."""

    __slots__ = ("_admission", "_last_bytes", "_owner", "_peer", "_request_bytes")

    def __init__(self, admission: CallAdmission, owner: str, peer: str) -> None:
        self._admission = admission
        self._owner = owner
        self._peer = peer
        self._request_bytes = 0
        self._last_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._admission.leave(self._owner, self._peer, self._request_bytes)

    def receive(self, size: int) -> None:
        """Counts a message of the call before it is parsed. Raises TooManyCallsError."""
        self._admission.receive(0, size)
        self._request_bytes += size
        self._last_bytes = size

    def receive_part(self, size: int) -> None:
        """Counts a part of the call's only message. Raises TooManyCallsError."""
        self._admission.receive(self._request_bytes, size)
        self._request_bytes += size

    def receive_whole(self, size: int) -> None:
        """Counts the call's only message, of which parts may have come in another form. Raises TooManyCallsError."""
        self.receive_part(max(0, size - self._request_bytes))

    def take(self) -> int:
        """Returns the size of the message that was received last, once: whoever takes it says when it is finished."""
        size, self._last_bytes = self._last_bytes, 0
        return size

    def finish(self, size: int) -> None:
        """Counts out a message of a stream that has been answered."""
        self._admission.finish(size)
        self._request_bytes -= size

    def hold(self, context: Context, size: int) -> None:
        """Counts the call's answer beyond its end, until it is sent. Raises TooManyCallsError."""
        self._admission.hold(context, self._owner, size)


def host_of(peer: str) -> str:
    """Returns the other end of a connection without its port."""
    return peer.rpartition(":")[0]


def take(counter: Counter[str], key: str, size: int) -> None:
    """Subtracts, and forgets who has nothing left."""
    counter[key] -= size
    if counter[key] <= 0:
        del counter[key]
