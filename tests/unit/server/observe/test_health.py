"""Health checks need no key, so what they leave behind is bounded."""

import sys
from typing import Any, NoReturn

import pytest
from grpc import StatusCode
from grpc.aio import AbortError
from grpc_health.v1.health import SERVICE_NAME

from server.observe.health import HealthServicer
from server.rpc.handlers import HandlerTable


class Caller:
    """One who sends a message that is none. As gRPC does, it keeps the error of the abort."""

    def __init__(self, message: bytes) -> None:
        self.message = message
        self.told: tuple[StatusCode, AbortError] | None = None

    async def read(self) -> bytes:
        return self.message

    async def abort(self, code: StatusCode, _: str) -> NoReturn:
        self.told = code, AbortError()
        raise self.told[1]


@pytest.mark.parametrize("method", ["Check", "Watch"])
async def test_a_refused_message_is_not_kept(method: str) -> None:
    table, caller = HandlerTable(None), Caller(b"\x0f" * 10_000)
    HealthServicer(()).add_to(table)
    known = sys.getrefcount(caller.message)
    answer: Any = table.behavior(f"/{SERVICE_NAME}/{method}")
    with pytest.raises(AbortError):
        await answer(None, caller)
    assert caller.told is not None
    assert caller.told[0] is StatusCode.INVALID_ARGUMENT
    left = sys.getrefcount(caller.message)  # not in an assert, which pytest keeps the parts of
    assert left == known
