"""What gRPC is told about calls that it has and the server has not seen yet."""

from server.config import ListenConfig
from server.rpc.listener import options


def test_no_call_that_waits_is_dropped_before_its_own_deadline() -> None:
    told = dict(options(ListenConfig()))
    assert told["grpc.server_max_unrequested_time_in_server"] >= 600
    assert told["grpc.server.max_pending_requests"] == told["grpc.server.max_pending_requests_hard_limit"] >= 8_000
