"""HTTP and JSON over real sockets: the answers, refusals and limits of the RPCs behind them."""

import asyncio
import base64
import json
import math
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import h11
import httpx
import numpy as np
import openai
import pytest
from google.protobuf.json_format import ParseDict
from precis.v1 import inference_pb2, judge_pb2
from precis.v1.inference_pb2_grpc import InferenceServiceStub
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.app import App
from server.http import http_server, paths
from server.http.json_messages import dumps
from tests.integration.conftest import Start
from tests.integration.support.gate import Gate
from tests.integration.support.metrics_page import scrape

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."
JSON = {"content-type": "application/json"}
JSON_HEADER = "content-type: application/json"
ON = {"enabled": True, "port": 0}


@asynccontextmanager
async def client_of(app: App, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
    address = f"http://127.0.0.1:{app.http_port}"
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
        yield client


@pytest.fixture
async def app(start: Start) -> AsyncIterator[App]:
    async with start(http=ON) as app:
        yield app


@pytest.fixture
async def client(app: App) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as client:
        yield client


def events_of(text: str) -> list[tuple[str, Any]]:
    """Reads server-sent events."""
    blocks = [block.split("\n") for block in text.split("\n\n") if block]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


async def test_judge_answers_what_the_rpc_answers(app: App, client: httpx.AsyncClient) -> None:
    body = {"source": SOURCE, "summary": SUMMARY, "frameworks": ["JUDGE_FRAMEWORK_TWIN_LOCK"]}
    response = await client.post("/v1/judge", json=body)
    async with grpc.aio.insecure_channel(app.address) as channel:
        request = judge_pb2.JudgeRequest(
            source=SOURCE, summary=SUMMARY, frameworks=[judge_pb2.JUDGE_FRAMEWORK_TWIN_LOCK]
        )
        native = await JudgeServiceStub(channel).Judge(request)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    answered = ParseDict(response.json(), judge_pb2.JudgeResponse())
    assert list(answered.result.frameworks) == list(native.result.frameworks)
    assert answered.result.request_hash == native.result.request_hash


@pytest.mark.parametrize(
    ("path", "body", "names"),
    [
        ("/v1/judge/stream", {"source": SOURCE, "summary": SUMMARY}, ["evidence", *["metric"] * 5, "result"]),
        ("/v1/summarize", {"document": {"text": SOURCE * 40}}, ["accepted", ..., "summary"]),
    ],
)
async def test_events_are_streamed_and_the_result_last(
    client: httpx.AsyncClient, path: str, body: dict[str, object], names: list[Any]
) -> None:
    response = await client.post(path, json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    found = [name for name, _ in events_of(response.text)]
    assert (found if ... not in names else [found[0], ..., found[-1]]) == names


async def test_evaluate_answers_a_loss(client: httpx.AsyncClient) -> None:
    body = {"datum": {"entry": {"text": SOURCE}, "summary": {"summary": SOURCE}}, "generated": {"text": SUMMARY}}
    response = await client.post("/v1/evaluate", json=body)
    assert response.status_code == 200, response.text
    assert 0 <= response.json()["loss"] <= 1


async def test_the_client_of_openai_gets_embeddings(app: App) -> None:
    async with openai.AsyncOpenAI(api_key="none", base_url=f"http://127.0.0.1:{app.http_port}/v1") as client:
        models = [model.id async for model in client.models.list()]
        assert [(await client.models.retrieve(model)).id for model in models] == models
        model = models[0]
        packed = await client.embeddings.create(input=["w1 w2", "w3"], model=model)
        plain = await client.embeddings.create(input="w1 w2", model=model, encoding_format="float")
        short = await client.embeddings.create(input="w1 w2", model=model, dimensions=3)
    async with grpc.aio.insecure_channel(app.address) as channel:
        native = await InferenceServiceStub(channel).Embed(inference_pb2.EmbedRequest(texts=["w1 w2", "w3"]))
    wanted = [list(result.embedding.values) for result in native.results]
    assert [one.embedding for one in packed.data] == wanted
    assert np.asarray(plain.data[0].embedding, np.float32).tolist() == wanted[0]
    first = np.asarray(wanted[0][:3])
    assert short.data[0].embedding == pytest.approx(first / np.linalg.norm(first), abs=1e-6)
    assert packed.usage.prompt_tokens == sum(result.embedding.token_count for result in native.results)
    assert packed.model == native.model.name
    async with client_of(app) as http:
        [entry] = (await http.post("/v1/embeddings", json={"input": "w1 w2", "encoding_format": "base64"})).json()[
            "data"
        ]
        assert np.frombuffer(base64.b64decode(entry["embedding"]), "<f4").tolist() == wanted[0]
        found = (await http.post("/embed", json={"inputs": ["w1 w2", "w3"]})).json()
        assert np.asarray(found, np.float32).tolist() == wanted
        info = (await http.get("/info")).json()
    assert (info["model_id"], info["max_client_batch_size"]) == (native.model.name, 32)
    assert native.model.name in models


async def test_the_client_of_openai_hears_why_it_is_refused_and_of_other_names(start: Start) -> None:
    async with (
        start(http={**ON, "model_aliases": ["text-embedding-3-small"]}) as app,
        openai.AsyncOpenAI(api_key="none", base_url=f"http://127.0.0.1:{app.http_port}/v1") as client,
    ):
        assert (await client.embeddings.create(input="w1", model="text-embedding-3-small")).data
        assert (await client.models.retrieve("text-embedding-3-small")).id == "text-embedding-3-small"
        for refused in (client.embeddings.create(input="w1", model="nope"), client.models.retrieve("nope")):
            with pytest.raises(openai.NotFoundError, match=r"no such model: expected .*text-embedding-3-small"):
                await refused
        with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length") as caught:
            await client.embeddings.create(input=[[1, 2]], model="text-embedding-3-small")
        assert (caught.value.param, caught.value.type) == ("input[0]", "invalid_request_error")


async def test_a_text_that_is_cut_is_told_or_refused(client: httpx.AsyncClient) -> None:
    body = {"inputs": ["w1", "w1 " * 600]}
    assert (await client.post("/embed", json=body)).headers["x-truncated-texts"] == "1"
    refused = await client.post("/embed", json={**body, "truncate": False})
    assert (refused.status_code, refused.json()["error_type"]) == (400, "Validation")
    assert "inputs[1]" in refused.json()["error"]


async def test_pages_of_named_sites_may_call(start: Start) -> None:
    asks = {"origin": "https://app.example", "access-control-request-method": "POST"}
    async with start(http={**ON, "origins": ["https://app.example"]}) as app, client_of(app) as client:
        assert (await client.options("/embed", headers=asks)).headers["access-control-allow-origin"] == asks["origin"]
        assert (await client.options("/embed", headers={**asks, "origin": "https://evil.example"})).status_code == 400


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.1", "localhost:80@evil.example", ""])
async def test_without_keys_no_foreign_name_is_answered(start: Start, keys_file: Path, host: str) -> None:
    """A web site may point a name of its own to this machine, and would read the answers."""
    async with start(http={**ON, "hosts": ["precis.internal"]}) as app, client_of(app) as client:
        refused = await client.get("/v1/models", headers={"host": host})
        assert (refused.status_code, refused.json()["violations"][0]["field"]) == (400, "host")
        for own in ("localhost:80", "[::1]:80", "10.0.0.7", "precis.internal"):
            assert (await client.get("/v1/models", headers={"host": own})).status_code == 200
    async with start(http=ON, auth={"keys_file": keys_file}) as app, client_of(app) as client:
        assert (await client.get("/health", headers={"host": "evil.example"})).status_code == 200


async def test_rerank_puts_the_most_similar_text_first(client: httpx.AsyncClient) -> None:
    body = {"query": "w1 w2", "texts": ["w9 w8 w7", "w1 w2"], "return_text": True, "raw_scores": True}
    ranks = (await client.post("/rerank", json=body)).json()
    assert [(rank["index"], rank["text"]) for rank in ranks] == [(1, "w1 w2"), (0, "w9 w8 w7")]
    assert ranks[0]["score"] == pytest.approx(1, abs=1e-6)
    scaled = (await client.post("/rerank", json={**body, "raw_scores": False})).json()
    assert [rank["score"] for rank in scaled] == pytest.approx([(1 + rank["score"]) / 2 for rank in ranks])


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/judge", {"source": SOURCE, "summary": " "}, "summary"),
        ("/v1/judge", {"sumary": SUMMARY}, "sumary"),
        ("/v1/judge", {"options": {"eta": math.nan}}, "body"),
        ("/v1/judge", [], "body"),
        ("/v1/embeddings", {"input": ["w1", " "]}, "input[1]"),
        ("/v1/embeddings", {"input": [1, 2]}, "input[0]"),
        ("/v1/embeddings", {"input": "w1", "dimensions": 10_000}, "dimensions"),
        ("/v1/embeddings", {"input": "w1", "dimensions": 0}, "dimensions"),
        ("/v1/embeddings", {"input": "w1", "model": []}, "model"),
        ("/v1/embeddings", {"input": "w1", "encoding_format": "hex"}, "encoding_format"),
        ("/embed", {"inputs": ""}, "inputs[0]"),
        ("/embed", {"inputs": ["w1"] * 33}, "inputs"),
        ("/embed", {"inputs": "w1", "prompt_name": "query"}, "prompt_name"),
        ("/rerank", {"query": "", "texts": ["w1"]}, "query"),
        ("/rerank", {"query": "w1", "texts": ["w1", ""]}, "texts[1]"),
        ("/rerank", {"query": "w1"}, "texts"),
    ],
)
async def test_a_wrong_field_is_a_problem_that_names_it(
    client: httpx.AsyncClient, path: str, body: object, field: str
) -> None:
    response = await client.post(path, content=json.dumps(body), headers=JSON)
    problem = response.json()
    assert (response.status_code, response.headers["content-type"]) == (400, "application/problem+json")
    assert (problem["title"], problem["reason"]) == ("INVALID_ARGUMENT", "INVALID_REQUEST")
    assert [violation["field"] for violation in problem["violations"]] == [field]
    assert problem["request_id"]


@pytest.mark.parametrize(
    ("headers", "field"),
    [({"content-type": "text/plain"}, "content-type"), ({"x-request-timeout": "soon"}, "x-request-timeout")],
)
async def test_a_wrong_header_is_named(client: httpx.AsyncClient, headers: dict[str, str], field: str) -> None:
    """What a browser sends without asking is text."""
    response = await client.post("/embed", content=json.dumps({"inputs": "w1"}), headers={**JSON, **headers})
    assert [one["field"] for one in response.json()["violations"]] == [field]


async def test_a_body_over_the_limit_is_refused(start: Start) -> None:
    async with start(http=ON, listen={"max_receive_mib": 1, "max_list_mib": 1}) as app, client_of(app) as client:
        for path, body in (
            ("/v1/judge", {"source": "x" * (1 << 20), "summary": "x"}),
            ("/embed", {"inputs": "w" * (1 << 20)}),  # the limit of its RPC
        ):
            response = await client.post(path, json=body)
            assert (response.status_code, "1 MiB" in response.json()["detail"]) == (400, True)


async def test_a_key_is_needed_but_for_health(start: Start, keys_file: Path) -> None:
    async with start(http=ON, auth={"keys_file": keys_file}) as app:
        async with client_of(app) as client:
            response = await client.post("/embed", json={"inputs": "w1"})
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
            two = [("authorization", f"Bearer {key}") for key in ("wrong", "owner")]  # a proxy reads the first
            assert (await client.post("/embed", json={"inputs": "w1"}, headers=two)).status_code == 401
            assert (await client.get("/health")).json() == {"status": "SERVING"}
        async with client_of(app, authorization="Bearer owner") as client:
            assert (await client.post("/embed", json={"inputs": "w1"})).status_code == 200


async def test_calls_share_the_places_of_the_rpcs(start: Start, gate: Gate) -> None:
    async with start(http=ON, listen={"max_concurrent_calls": 1}) as app, client_of(app) as client:
        gate.close()
        waiting = asyncio.create_task(client.post("/embed", json={"inputs": "w1"}))
        await gate.visited()
        response = await client.post("/embed", json={"inputs": "w2"})
        assert (response.status_code, response.headers["retry-after"]) == (429, "2")  # 1 to 1.5 s, rounded up
        assert response.json()["reason"] == "TOO_MANY_CALLS"
        gate.open()
        assert (await waiting).status_code == 200


async def test_a_timeout_ends_the_call(start: Start, gate: Gate) -> None:
    async with start(http=ON) as app, client_of(app, **{"x-request-timeout": "0.2"}) as client:
        gate.close()
        response = await client.post("/embed", json={"inputs": "w1"})
        assert (response.status_code, response.json()["title"]) == (504, "DEADLINE_EXCEEDED")


async def test_a_caller_that_leaves_gives_its_place_back(start: Start, gate: Gate) -> None:
    async with start(http=ON, listen={"max_concurrent_calls": 1}) as app, client_of(app) as client:
        gate.close()
        leaving = asyncio.create_task(client.post("/embed", json={"inputs": "w1"}))
        await gate.visited()
        leaving.cancel()
        await asyncio.wait({leaving})
        gate.open()
        while (await client.post("/embed", json={"inputs": "w2"})).status_code == 429:
            pass


@pytest.mark.parametrize("asks", [b"", b"connection: upgrade\r\nupgrade: h2c\r\n"])
@pytest.mark.parametrize("behind", [b"", b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n", b"G" * (1 << 17)])
async def test_who_leaves_or_floods_the_pipe_is_heard(start: Start, gate: Gate, asks: bytes, behind: bytes) -> None:
    async with start(http=ON, listen={"max_concurrent_calls": 1}) as app, client_of(app) as client:
        gate.close()
        _, writer = await asyncio.open_connection("127.0.0.1", app.http_port)
        head = b"POST /embed HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 15\r\n"
        writer.write(head + asks + b'\r\n{"inputs":"w1"}')
        await gate.visited()
        writer.write(behind)
        await writer.drain()
        if len(behind) < 1 << 16:  # else the server closes
            writer.close()
        async with asyncio.timeout(30):
            while (await client.get("/v1/models")).status_code == 429:  # the models are held: its place alone is free
                pass
        gate.open()
        writer.close()


async def test_an_answer_that_nobody_reads_ends_and_is_not_made_meanwhile(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def counted(value: object) -> bytes:
        made.append(value)
        return dumps(value)

    monkeypatch.setattr(paths, "dumps", counted)
    body = json.dumps({"query": "w1", "texts": ["x" * 360] * 9_000, "return_text": True}).encode()
    async with start(http={**ON, "max_texts": 10_000}, listen={"body_timeout_s": 1}) as app:
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", app.http_port))
            head = f"POST /rerank HTTP/1.1\r\nhost: 127.0.0.1\r\n{JSON_HEADER}\r\ncontent-length: {len(body)}\r\n\r\n"
            await asyncio.to_thread(deaf.sendall, head.encode() + body)
            async with asyncio.timeout(60):
                while not made or (await scrape(app))["precis_unsent_bytes"] > 0:
                    await asyncio.to_thread(lambda: None)
    assert 0 < len(made) < 9_000


async def test_a_peer_is_who_it_is(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with start(http=ON) as app, client_of(app, **{"x-forwarded-for": "6.6.6.6"}) as client:
        assert (await client.post("/embed", json={"inputs": "w1"})).status_code == 200
    assert "peer=ipv4:127.0.0.1" in caplog.text
    assert "6.6.6.6" not in caplog.text


async def test_a_path_that_is_not_there_is_a_problem(client: httpx.AsyncClient) -> None:
    response = await client.get("/v1/nothing")
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")
    problem = response.json()
    assert "/v1/judge" in problem["error"]["message"]  # of OpenAI's form; TEI's is a text
    assert "/v1/judge" in (await client.post("/embed_all")).json()["error"]
    assert (problem["title"], problem["reason"], problem["status"]) == ("UNIMPLEMENTED", "NOT_OFFERED", 404)
    other = await client.get("/v1/judge")
    assert (other.status_code, other.headers["allow"], other.json()["title"]) == (405, "POST", "UNIMPLEMENTED")
    assert "request_id" not in problem  # it is no call, and the log has no line of it


@pytest.mark.parametrize("sent", [b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nhost: x\r\nx-slow:"])
async def test_a_connection_without_whole_headers_is_closed(start: Start, sent: bytes) -> None:
    async with start(http=ON, listen={"body_timeout_s": 0.2}) as app:
        reader, writer = await asyncio.open_connection("127.0.0.1", app.http_port)
        writer.write(sent)
        async with asyncio.timeout(60):
            assert await reader.read() == b""
        writer.close()


CHECK = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
CHUNKS = f"POST /embed HTTP/1.1\r\nhost: 127.0.0.1\r\n{JSON_HEADER}\r\ntransfer-encoding: chunked\r\n\r\n".encode()


async def test_a_body_in_tiny_chunks_is_taken_in_by_pieces(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that the socket holds in one piece, 12 MB without a key, held up everybody for 12 s."""
    sizes: list[int] = []
    receive = h11.Connection.receive_data

    def received(self: h11.Connection, data: bytes) -> None:
        sizes.append(len(data))
        receive(self, data)

    monkeypatch.setattr(h11.Connection, "receive_data", received)
    async with start(http=ON) as app, asyncio.timeout(60):
        body = json.dumps({"inputs": "w1", "model": "x" * 50_000}).encode()
        chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
        assert await said_to(app, CHUNKS + chunks + b"0\r\n\r\n", 15) == b"HTTP/1.1 200 OK"
    assert max(sizes) <= 4_096 < sum(sizes)


async def test_chunks_behind_a_refusal_and_long_headers_end_the_connection(start: Start, keys_file: Path) -> None:
    async with start(http=ON, auth={"keys_file": keys_file}) as app, asyncio.timeout(60):
        assert b" 401 " in await said_to(app, CHUNKS)
        long = b"GET /health HTTP/1.1\r\nhost: x\r\n" + b"a:\r\n" * 10_000 + b"\r\n"
        assert b"headers of at most 16 KiB" in await said_to(app, long)


async def test_a_request_of_two_lengths_or_after_an_hour_is_the_last_of_its_connection(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a proxy that believes the other length, what follows would be a request that nobody checked."""
    two_lengths = CHUNKS.replace(b"transfer", b"content-length: 50\r\ntransfer")
    async with start(http=ON, listen={"body_timeout_s": 1}) as app, asyncio.timeout(60):
        sent = two_lengths + b'f\r\n{"inputs":"w1"}\r\n0\r\n\r\n' + CHECK
        assert (await said_to(app, sent)).count(b"HTTP/1.1 ") == 1
        monkeypatch.setattr(http_server, "AGE_S", -1)
        assert (await said_to(app, CHECK + CHECK)).count(b"HTTP/1.1 ") == 1


async def said_to(app: App, sent: bytes, size: int = -1) -> bytes:
    """Returns the answer to some bytes, whole or its beginning."""
    reader, writer = await asyncio.open_connection("127.0.0.1", app.http_port)
    writer.write(sent)
    answer = await reader.read(size)
    writer.close()
    return answer


async def test_the_openapi_document_describes_every_path_and_field(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert {"/v1/judge", "/v1/evaluate", "/v1/summarize", "/v1/embeddings", "/rerank"} <= set(document["paths"])
    schemas = document["components"]["schemas"]
    request = schemas["precis.v1.JudgeRequest"]["properties"]
    assert set(request) == set(judge_pb2.JudgeRequest.DESCRIPTOR.fields_by_name)
    assert request["source"]["description"].startswith("The source text.")
    undescribed = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        if name.startswith("precis.")
        for field, value in schema["properties"].items()
        if "description" not in value
    ]
    assert undescribed == []
    references = {part.split('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert references <= set(schemas)
