"""What `precis judge` asks the server for."""

from typing import Any, cast

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.commands.judge import FrameworkChoice, JudgeOptions
from server.cli.connection import CommandClient
from server.cli.judge.judgements import Item, to_work

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


async def test_what_is_not_asked_for_is_left_to_the_server() -> None:
    assert not (await asked(JudgeOptions())).options.HasField("use_language_model")
    assert (await asked(JudgeOptions(no_llm=True))).options.HasField("use_language_model")


def test_a_result_on_other_terms_is_not_kept() -> None:
    ultra, lock = FrameworkChoice.ULTRA, FrameworkChoice.JUDGE_LOCK
    options = (JudgeOptions(), JudgeOptions([ultra, lock]), JudgeOptions(no_llm=True), JudgeOptions([ultra]))
    terms = [to_work(one, common_pb2.PRIORITY_BULK).terms for one in options]
    assert len({ITEM.sha256(*one) for one in terms}) == 3
    assert terms[0] == terms[3]
