"""Builds the rich status (google.rpc.Status) and the per-item error of a Python error.

Tells a deadline that passed from a client that left. gRPC does not say which it was: a client resets its stream in
both cases, with the same HTTP/2 error (CANCEL). The server's clock tells the rest, up to the rounding of the timeout on
the wire and the time that the request took.
"""

import logging
import math

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from precis.v1 import common_pb2

from pipeline.summarize.errors import StorageError, StorageFullError
from server.errors import INTERNAL, retry_after_s_of, rule_for, violations_of
from server.rpc.fields import to_duration

logger = logging.getLogger(__name__)

DOMAIN = "precis"  # of google.rpc.ErrorInfo: who defines the reason


def to_status(error: BaseException, call_id: str) -> grpc.Status:
    """Turns an error into the status that ends a call.

    An unknown error is logged whole and sent without its text: it may quote a user, and is of no use to them. The call
    id that is sent is in the log line.
    """
    rule = rule_for(error)
    message = public_message(error, call_id)
    status = status_pb2.Status(code=rule.code.value[0], message=message)
    for detail in _details(error, rule.reason, call_id):
        status.details.add().Pack(detail)
    return rpc_status.to_status(status)


def to_item_error(error: BaseException, call_id: str, field: str = "") -> common_pb2.ItemError:
    """Turns the error of one item of a list or stream into its message.

    Args:
        error: logged whole when it is none of ours.
        call_id: of the call that holds the item.
        field: path of the field to blame; by default the one that the error names.
    """
    violations = violations_of(error)
    item = common_pb2.ItemError(
        code=rule_for(error).code.value[0],
        message=public_message(error, call_id),
        field=field or (violations[0].field if violations else ""),
    )
    if (retry_after_s := retry_after_s_of(error)) is not None:
        item.retry_delay.CopyFrom(to_duration(retry_after_s))
    return item


def public_message(error: BaseException, call_id: str) -> str:
    """Returns what the client may read; logs what it may not: unknown errors, and those that name the host's files."""
    if isinstance(error, StorageError):
        logger.error("event=storage_failed id=%s error=%r", call_id, str(error))
        failed = "has no space left for" if isinstance(error, StorageFullError) else "cannot use its database of"
        return f"the server {failed} summaries; its operator finds the cause in the log under id={call_id}"
    if rule_for(error) is not INTERNAL:
        return str(error)
    logger.error("event=unknown_error id=%s", call_id, exc_info=error)
    return f"internal error; the server's log has the cause under id={call_id}"


def _details(error: BaseException, reason: str, call_id: str) -> list[Message]:
    named = {"call_id": call_id} if call_id else {}  # none for a stranger, who is no call of the log's
    details: list[Message] = [error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=named)]
    if call_id:
        details.append(error_details_pb2.RequestInfo(request_id=call_id))
    if violations := violations_of(error):
        fields = [
            error_details_pb2.BadRequest.FieldViolation(field=violation.field, description=violation.description)
            for violation in violations
        ]
        details.append(error_details_pb2.BadRequest(field_violations=fields))
    if (retry_after_s := retry_after_s_of(error)) is not None:
        details.append(error_details_pb2.RetryInfo(retry_delay=to_duration(retry_after_s)))
    return details


def has_passed(remaining_s: float, elapsed_s: float) -> bool:
    """Tells whether a call that was cancelled has most likely met its deadline.

    Args:
        remaining_s: until the deadline by the server's clock, when the call was cancelled.
        elapsed_s: since the call began, by the same clock.
    """
    timeout_s = remaining_s + elapsed_s
    # Of a short timeout one half may be left. The network took 500 calls at once, on loopback, 5.5 ms.
    return remaining_s <= rounding_s(timeout_s) + min(0.02, timeout_s / 2)


def rounding_s(timeout_s: float) -> float:
    """Returns by how much gRPC may have rounded a timeout up: to the third of its digits, and to milliseconds."""
    return 10.0 ** max(math.floor(math.log10(max(timeout_s, 1e-3))) - 2, -3)
