"""What gRPC is told: about calls that it has and the server has not seen yet, and about the size of messages."""

from server.config import ListenConfig
from server.rpc.admission import CallPolicy
from server.rpc.listener import options


def test_no_call_that_waits_is_dropped_before_its_own_deadline() -> None:
    told = dict(options(ListenConfig()))
    assert told["grpc.server_max_unrequested_time_in_server"] >= 600
    assert told["grpc.server.max_pending_requests"] == told["grpc.server.max_pending_requests_hard_limit"] >= 8_000


def test_no_response_that_is_let_through_is_too_large_for_grpc() -> None:
    config = ListenConfig(max_send_mib=3)
    policy = CallPolicy.of(config, 1, None, {})
    assert policy.max_response_bytes == dict(options(config))["grpc.max_send_message_length"] == 3 << 20
