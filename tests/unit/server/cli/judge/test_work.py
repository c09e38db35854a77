"""What `precis judge` asks the server for."""

from typing import Any, cast

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.connection import CommandClient
from server.cli.judge.floors import JudgeOptions
from server.cli.judge.items import Item, to_work

ITEM = Item("one", "Source.", "Summary.")


class RecordingClient:
    """Keeps the request of the last call."""

    request: pb.JudgeRequest

    async def send(self, call: Any) -> pb.JudgeResponse:  # noqa: ANN401 - a call of any method
        self.request = call.request
        return pb.JudgeResponse()


async def asked(terms: JudgeOptions) -> pb.JudgeRequest:
    client = RecordingClient()
    await to_work(terms, common_pb2.PRIORITY_BULK).send(cast("CommandClient", client), ITEM)
    return client.request


async def test_a_bound_on_claims_is_sent_and_none_is_left_to_the_server() -> None:
    assert (await asked(JudgeOptions(max_claims=7))).options.max_claims == 7
    assert not (await asked(JudgeOptions())).options.HasField("max_claims")


def test_a_result_under_another_bound_is_not_kept() -> None:
    terms = [to_work(JudgeOptions(max_claims=bound), common_pb2.PRIORITY_BULK).terms for bound in (None, 7, 8)]
    assert len({ITEM.sha256(*one) for one in terms}) == 3
    listed = to_work(JudgeOptions(claims="all"), common_pb2.PRIORITY_BULK).terms
    assert listed == terms[0]  # how many are listed changes nothing about the result
