"""Every call of the client, sync and asyncio, against a real server."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import trustme
from precis import Tls, errors, gold_standard
from precis.v1 import evaluate_pb2, inference_pb2
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.app import App
from tests.integration.client.either_client import Connect, EitherClient
from tests.integration.conftest import Start
from tests.integration.evaluate.evaluations import evaluate_request
from tests.integration.judge.judge_requests import SOURCE, SUMMARY
from tests.integration.support.gate import POISON, Gate
from tests.integration.support.log_lines import log_lines

SERVICES = {
    *("server", "precis.v1.EvaluateService", "precis.v1.InferenceService"),
    *("precis.v1.JudgeService", "precis.v1.SummarizeService"),
}


@pytest.fixture
async def client(connect: Connect, app: App) -> AsyncIterator[EitherClient]:
    async with connect(app.address) as client:
        yield client


async def test_a_judgement_has_scores_and_claims(client: EitherClient) -> None:
    judgement = await client.call("judge", SOURCE, SUMMARY)
    assert [scores.framework for scores in judgement.frameworks] == ["ultra"]
    assert 0 <= judgement.hallucination <= 10
    assert [SUMMARY[claim.start : claim.end] for claim in judgement.claims] == [
        claim.text for claim in judgement.claims
    ]
    assert judgement.message.request_hash
    twin = await client.call("judge", SOURCE, SUMMARY, frameworks=["twin-lock"], priority="bulk")
    both = await client.call("judge", SOURCE, SUMMARY, frameworks=["ultra", "twin-lock"])
    assert [scores.framework for scores in both.frameworks] == ["twin-lock", "ultra"]
    assert twin.hallucination == both.framework("twin-lock").hallucination
    assert judgement.hallucination == both.hallucination


async def test_an_evaluation_has_a_loss_and_its_scores(client: EitherClient) -> None:
    request = evaluate_request()
    evaluation = await client.call("evaluate", request.datum, request.generated)
    assert evaluation.loss == evaluation.message.loss
    assert evaluation.facts == evaluation.message.facts.score.score
    text = await client.call("evaluate", gold_standard("W1 w2 .", "W1 w2 ."), "W1 w2 .")
    assert (text.facts, text.hard_fail) == (None, None)
    assert 0 <= text.semantic <= 1


async def test_evaluations_of_a_batch_come_one_by_one_and_a_bad_one_is_one_error(client: EitherClient) -> None:
    whole = evaluate_pb2.EvaluateStreamRequest(id="third", request=evaluate_request(seed=3))
    datum = evaluate_request().datum
    pairs = [(datum, "W1 w2 w3 w4 ."), (evaluate_pb2.GoldStandardDatum(), "W1 ."), whole]
    first, second, third = sorted(await client.items("evaluate_batch", pairs), key=lambda item: int(item.index))
    assert (first.index, first.error, third.id) == (0, None, "third")
    assert 0 <= first.result().loss <= 1
    assert isinstance(second.error, errors.InvalidArgument)
    assert second.error.field == "datum.entry"
    with pytest.raises(errors.InvalidArgument):
        second.result()


async def test_a_batch_without_end_can_be_left(client: EitherClient) -> None:
    endless = itertools.repeat((evaluate_request().datum, "W1 w2 w3 w4 ."))
    with log_lines() as lines:
        assert len(await client.first_items("evaluate_batch", 3, endless)) == 3
        await lines.wait_for("rpc=precis.v1.EvaluateService/EvaluateStream", "code=CANCELLED")


async def test_embeddings_and_entailments_are_those_of_the_service(client: EitherClient, app: App) -> None:
    async with grpc.aio.insecure_channel(app.address) as channel:
        response = await InferenceServiceStub(channel).Embed(inference_pb2.EmbedRequest(texts=["w1 w2", "w3"]))
    embeddings = await client.call("embed", ["w1 w2", "w3"])
    assert embeddings == [result.embedding for result in response.results]
    [scores] = await client.call("entail", [("w1 w2", "w1")])
    assert scores.entailment + scores.neutral + scores.contradiction == pytest.approx(1.0)
    assert {model.dimension > 0 for model in await client.call("models")} == {True, False}


async def test_errors_say_what_the_server_said(client: EitherClient) -> None:
    with pytest.raises(errors.Internal) as failed:
        await client.call("embed", ["w1", POISON, "w2"])
    assert failed.value.field == "texts[1]"
    with pytest.raises(errors.InvalidArgument) as caught:
        await client.call("judge", SOURCE, " ")
    assert caught.value.field == "summary"
    assert caught.value.expected.startswith("expected ")
    assert caught.value.reason == "INVALID_REQUEST"
    assert caught.value.request_id
    assert await client.call("health") == dict.fromkeys(SERVICES, "SERVING")


async def test_a_call_that_takes_too_long_is_ended(connect: Connect, app: App, gate: Gate) -> None:
    gate.close()
    async with connect(app.address, timeout_s=0.3) as client:
        with pytest.raises(errors.DeadlineExceeded):
            await client.call("embed", ["w1"])
        with pytest.raises(errors.DeadlineExceeded):
            await client.call("judge", SOURCE, SUMMARY, timeout_s=0.2)
        gate.open()
        assert len(await client.call("embed", ["w1"], timeout_s=60)) == 1


async def test_a_message_that_is_too_large_is_no_full_queue(connect: Connect, app: App) -> None:
    async with connect(app.address, max_message_bytes=1_000) as client:
        with pytest.raises(errors.MessageTooLarge):
            await client.call("judge", SOURCE, SUMMARY)
        with pytest.raises(errors.MessageTooLarge):
            await client.call("judge", SOURCE * 10, SUMMARY)


async def test_keys_and_certificates_are_options(connect: Connect, start: Start, tmp_path: Path) -> None:
    servers, clients = trustme.CA(), trustme.CA()
    files = {name: tmp_path / name for name in ("keys", "ca", "clients", "cert", "key", "own-cert", "own-key")}
    files["keys"].write_text("the-key\n", encoding="utf-8")
    for authority, name in ((servers, "ca"), (clients, "clients")):
        authority.cert_pem.write_to_path(files[name])
    for leaf, cert, key in (
        (servers.issue_cert("localhost"), "cert", "key"),
        (clients.issue_cert("me"), "own-cert", "own-key"),
    ):
        leaf.cert_chain_pems[0].write_to_path(files[cert])
        leaf.private_key_pem.write_to_path(files[key])
    tls = {"certificate_file": files["cert"], "key_file": files["key"], "client_ca_file": files["clients"]}
    mine = Tls(ca=files["ca"], cert=files["own-cert"], key=str(files["own-key"]))
    async with start(tls=tls, auth={"keys_file": files["keys"]}) as app:
        address = app.address.replace("127.0.0.1", "localhost")
        for api_key in ("the-key", files["keys"]):
            async with connect(address, tls=mine, api_key=api_key) as client:
                assert len(await client.call("models")) == 2
        async with connect(address, tls=mine, api_key="another") as client:
            with pytest.raises(errors.Unauthenticated) as caught:
                await client.call("models")
            assert caught.value.reason == "UNKNOWN_KEY"
        async with connect(address, tls=Tls(ca=files["clients"]), api_key="the-key", timeout_s=5) as client:
            with pytest.raises(errors.Unavailable):
                await client.call("models")


@pytest.mark.parametrize("key", ["", "two\nlines", "ключ"])
async def test_a_key_that_cannot_be_sent_is_refused_at_once(connect: Connect, key: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one line of printable ASCII"):
        await connect("127.0.0.1:1", api_key=key).__aenter__()
    with pytest.raises(ValueError, match="belong together"):
        await connect("127.0.0.1:1", tls=Tls(cert=tmp_path / "cert")).__aenter__()


async def test_where_nobody_listens_is_unavailable(connect: Connect) -> None:
    async with connect("127.0.0.1:1") as client:
        with pytest.raises(errors.Unavailable, match=r"127\.0\.0\.1:1"):
            await client.call("models")
