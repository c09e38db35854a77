"""A call's deadline and priority, as the inference package takes them."""

import time

from precis.v1 import common_pb2

from inference.call import Call, Priority
from inference.errors import DeadlineExpiredError
from server.calls import Context
from server.errors import FieldViolation, InvalidRequestError

PRIORITIES: dict[int, Priority] = {
    common_pb2.PRIORITY_INTERACTIVE: Priority.INTERACTIVE,
    common_pb2.PRIORITY_BULK: Priority.BULK,
}


def to_call(context: Context, priority: int, *, default: Priority = Priority.INTERACTIVE) -> Call:
    """Binds deadline and priority of an RPC.

    Args:
        context: of the RPC.
        priority: a valid number of the enum Priority.
        default: what PRIORITY_UNSPECIFIED means in this RPC.

    Raises:
        DeadlineExpiredError: there is no time left, so nothing is computed.
    """
    return Call(deadline_s=deadline_s_of(context), priority=PRIORITIES.get(priority, default))


def deadline_s_of(context: Context) -> float | None:
    """Returns the RPC's deadline on the clock of `time.monotonic`; None when it has none.

    Raises:
        DeadlineExpiredError: it has passed.
    """
    remaining_s: float | None = context.time_remaining()
    if remaining_s is None:
        return None
    if remaining_s <= 0:
        raise DeadlineExpiredError
    return time.monotonic() + remaining_s


def parse_priority(priority: int) -> int:
    """Checks the priority of a request. Raises InvalidRequestError for a number that is no Priority."""
    violations = priority_violations(priority)
    if violations:
        raise InvalidRequestError(violations)
    return priority


def priority_violations(priority: int, field: str = "priority") -> list[FieldViolation]:
    """Checks an enum value that came over the wire; protobuf lets unknown numbers through."""
    if priority in PRIORITIES or priority == common_pb2.PRIORITY_UNSPECIFIED:
        return []
    expected = ", ".join(f"{common_pb2.Priority.Name(value)} ({value})" for value in common_pb2.Priority.values())
    return [FieldViolation(field, f"expected one of {expected}, got {priority}")]
