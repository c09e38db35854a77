"""Sends golden requests as bytes, so that no stub and no name of a field matters."""

import re
from collections.abc import Sequence
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

from tests.golden.answer import Answer
from tests.golden.case import SUMMARY_ID, Case, message_class, to_bytes
from tests.golden.normalise import normalised
from tests.golden.servers import Servers
from tests.golden.volatile import clear_volatile

TIMEOUT_S = 100.0
DETAILS_KEY = "grpc-status-details-bin"
_ID = re.compile(rb"[0-9a-f]{32}")
_ID_IN_WORDS = re.compile(r"(?<=id=)\S+|[0-9a-f]{32}")  # of a call, of a summary


class Runner:
    """Gets answers, each as if its request were the only one."""

    def __init__(self, servers: Servers, cases: Sequence[Case]) -> None:
        self._servers = servers
        self._cases = {case.name: case for case in cases}
        self._answers: dict[str, Answer] = {}
        self._summary_ids: dict[str, bytes] = {}

    async def answer(self, name: str) -> Answer:
        """Returns the answer to a case, sent once. The case that it follows is sent before it."""
        if name not in self._answers:
            case = self._cases[name]
            if case.follows:
                await self.answer(case.follows)
            self._answers[name] = await self._send(case)
        return self._answers[name]

    async def _send(self, case: Case) -> Answer:
        summary_id = self._summary_ids.get(case.follows, b"")
        requests = [one.replace(SUMMARY_ID.encode(), summary_id) if summary_id else one for one in case.requests]
        requests = [normalised(case, one) for one in requests]
        raw: list[bytes] = []
        try:
            await _call(self._servers.channels[case.server], case, requests, into=raw)
        except grpc.aio.AioRpcError as error:
            return self._refused(case, raw, error)
        if raw and (found := _ID.search(raw[0])):
            self._summary_ids[case.name] = found.group()
        return Answer(self._cleared(case, raw))

    def _refused(self, case: Case, raw: Sequence[bytes], error: grpc.aio.AioRpcError) -> Answer:
        status = status_pb2.Status()
        for key, value in error.trailing_metadata():
            if key == DETAILS_KEY and isinstance(value, bytes):
                status.MergeFromString(value)
        status.message = _ID_IN_WORDS.sub("", status.message)
        for packed in status.details:
            for detail in (error_details_pb2.ErrorInfo(), error_details_pb2.RequestInfo()):
                if packed.Unpack(detail):
                    clear_volatile(detail, self._servers.endpoint_url)
                    packed.value = to_bytes(detail)
        message = _ID_IN_WORDS.sub("", error.details() or "")
        return Answer(self._cleared(case, raw), error.code().name, message, to_bytes(status))

    def _cleared(self, case: Case, raw: Sequence[bytes]) -> tuple[bytes, ...]:
        kind = message_class(case.method.output_type.full_name)
        messages = [kind.FromString(one) for one in raw]
        for message in messages:
            clear_volatile(message, self._servers.endpoint_url)
        cleared = [to_bytes(message) for message in messages]
        return tuple(sorted(cleared) if case.is_unordered else cleared)


async def _call(channel: Any, case: Case, requests: Sequence[bytes], *, into: list[bytes]) -> None:  # noqa: ANN401 - its stubs know no bytes
    """Appends the responses as they come: what came before an error counts."""
    method = case.method
    path = f"/{method.containing_service.full_name}/{method.name}"
    if method.client_streaming:
        into.extend([one async for one in channel.stream_stream(path)(iter(requests), timeout=TIMEOUT_S)])
    elif method.server_streaming:
        async for response in channel.unary_stream(path)(requests[0], timeout=TIMEOUT_S):
            into.append(response)  # noqa: PERF401 - a list would lose what came before an error
    else:
        into.append(await channel.unary_unary(path)(requests[0], timeout=TIMEOUT_S))
