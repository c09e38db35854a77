"""What is known of the call that the running task serves: its record, which the frame around every call makes."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from pipeline.llm.limiter import Asker, asking
from server.rpc.admission import Place, owner_of
from server.rpc.auth import NOBODY, Caller
from server.rpc.quota import Allowance, TenantQuota


@dataclass(slots=True)
class CallRecord:
    """What the log line says about one call. Servicers fill in the two before the last."""

    call_id: str  # unique among the calls of all server processes
    started_s: float  # `time.monotonic` when the headers had been read
    caller: Caller = NOBODY  # whose call it is
    quota: TenantQuota | None = None  # what the caller has left; None without quotas
    charged_items: int = 0  # part of `item_count` that the quota knows of
    place: Place | None = None  # among the calls in flight; None before it has one
    asks_model: bool = False  # has asked the language model, and may ask again
    is_background: bool = False  # nobody waits for its answers
    queue_ms: float = 0.0  # how long the call's items waited for a worker
    item_count: int = 0  # texts or pairs of the request, or responses of a stream
    code: str = "OK"

    def charge(self) -> float:
        """Charges the items that were done since the last time. Returns how long the caller owes, in seconds."""
        if self.quota is None:
            return 0.0
        self.quota.items.charge(self.item_count - self.charged_items)
        self.charged_items = self.item_count
        return self.quota.items.wait_s


_PROCESS, _numbers = os.urandom(4).hex(), itertools.count(1)


def new_call_id() -> str:
    """Returns an id that no other call of any server process has, 20 times cheaper than a UUID."""
    return f"{_PROCESS}-{next(_numbers):x}"


_current: ContextVar[CallRecord] = ContextVar("current_call")


@contextmanager
def serving(record: CallRecord) -> Iterator[None]:
    """Makes a record that of the running task."""
    token = _current.set(record)
    try:
        yield
    finally:
        _current.reset(token)


def begin(record: CallRecord) -> CallRecord:
    """Makes a record that of the running task, to its end."""
    _current.set(record)
    return record


def current_call() -> CallRecord:
    """Returns the record of the call that the running task serves."""
    return _current.get()


@contextmanager
def part_of_call() -> Iterator[None]:
    """Gives one request of a stream a record of its own, and adds up what it did; its answer counts one item."""
    whole = _current.get()
    part = replace(whole, queue_ms=0.0, item_count=0)
    _current.set(part)
    try:
        yield
    finally:
        whole.queue_ms += part.queue_ms
        whole.item_count += max(0, part.item_count - 1)
        whole.asks_model |= part.asks_model


def current_caller() -> Caller:
    """Returns whose call the running task serves; nobody's outside of calls."""
    record = _current.get(None)
    return record.caller if record else NOBODY


def token_allowance() -> Allowance | None:
    """Returns at whose cost the running task asks a language model, in whose turn it does; None for nobody's.

    Raises:
        QuotaExceededError: it is the call's first question, and its caller owes tokens.
    """
    record = _current.get(None)
    if record is None:
        return None
    asking.set(Asker(owner_of(record.caller), record.is_background))
    if record.quota is None:
        return None
    if not record.asks_model:
        record.quota.tokens.check()
        record.asks_model = True
    return record.quota.tokens
