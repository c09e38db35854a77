"""Browsers and curl call through the real Envoy: gRPC-Web and JSON."""

import json
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from precis.v1.inference_pb2 import EmbedRequest, EmbedResponse

from tests.integration.conftest import Start
from tests.integration.deploy.cluster import running_envoy

pytestmark = pytest.mark.deploy

ORIGIN = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}


@pytest.fixture
async def http(start: Start, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        start(http={"enabled": True, "port": 0}) as app,
        running_envoy(tmp_path, [int(app.address.rsplit(":", 1)[1])], [app.http_port]) as address,
        httpx2.AsyncClient(base_url=f"http://{address}", trust_env=False) as client,
    ):
        yield client


async def test_json_calls_every_kind_of_rpc(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/precis.v1.InferenceService/Embed", json={"texts": ["w1", "w2"]})
    assert answer.status_code == 200
    assert [result["embedding"]["truncated"] for result in answer.json()["results"]] == [False, False]
    document = {"document": {"name": "Manual", "text": "Torque bolt 1 to 11 Nm before start. The pump is red."}}
    async with http.stream("POST", "/precis.v1.SummarizeService/Summarize", json=document) as stream:
        events = [json.loads(line) async for line in stream.aiter_lines() if line]
    assert "accepted" in events[0]["event"]
    assert events[-1]["event"]["summary"]["status"] == "SUMMARY_STATUS_DONE"


async def test_the_paths_of_openai_and_tei_reach_the_servers_own_http(http: httpx2.AsyncClient) -> None:
    while (await http.get("/health")).status_code != 200:
        pass  # until Envoy has asked the servers once
    assert (await http.get("/v1/models")).json()["object"] == "list"
    assert len((await http.post("/v1/embeddings", json={"input": ["w1", "w2"]})).json()["data"]) == 2
    assert len((await http.post("/embed", json={"inputs": ["w1"]})).json()) == 1
    assert len((await http.post("/rerank", json={"query": "w1", "texts": ["w2", "w1"]})).json()) == 2
    assert (await http.post("/v1/judge", json={})).json()["title"] == "INVALID_ARGUMENT"


async def test_an_error_is_json_with_its_field(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/precis.v1.InferenceService/Embed", json={"texts": []})
    assert answer.status_code == 400
    details = {detail["@type"].rsplit(".", 1)[1]: detail for detail in answer.json()["details"]}
    assert details["BadRequest"]["field_violations"][0]["field"] == "texts"
    assert details["ErrorInfo"]["reason"] == "INVALID_REQUEST"


async def test_a_method_that_no_service_has_is_not_found(http: httpx2.AsyncClient) -> None:
    assert (await http.post("/precis.v1.InferenceService/Guess", json={})).status_code == 404


async def test_grpc_web_calls_as_a_browser_does(http: httpx2.AsyncClient) -> None:
    message = EmbedRequest(texts=["w1"]).SerializeToString()
    answer = await http.post(
        "/precis.v1.InferenceService/Embed",
        content=struct.pack(">BI", 0, len(message)) + message,
        headers={"content-type": "application/grpc-web+proto", "x-grpc-web": "1"},
    )
    kind, length = struct.unpack(">BI", answer.content[:5])
    trailers = answer.content[5 + length :]
    assert kind == 0
    assert len(EmbedResponse.FromString(answer.content[5 : 5 + length]).results) == 1
    assert trailers[0] == 0x80
    assert b"grpc-status:0" in trailers


async def test_no_page_of_another_origin_may_call_unless_it_is_named(http: httpx2.AsyncClient) -> None:
    answer = await http.options("/precis.v1.InferenceService/Embed", headers=ORIGIN)
    assert "access-control-allow-origin" not in answer.headers
