"""The Open Inference Protocol through a real stub: what Triton's client cannot send, and what it does not show."""

import json
from typing import Any

import numpy as np
import pytest
from grpc import StatusCode
from grpc.aio import Channel
from precis.oip import open_inference_pb2 as pb
from precis.oip.open_inference_pb2_grpc import GRPCInferenceServiceStub
from precis.v1 import inference_pb2, judge_pb2
from precis.v1.inference_pb2_grpc import InferenceServiceStub
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from tests.golden.texts import JAPANESE
from tests.integration.conftest import Connect
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import log_lines
from tests.integration.support.rich_errors import error_of, fields_of

TWIN_LOCK = judge_pb2.JUDGE_FRAMEWORK_TWIN_LOCK
PREMISES, HYPOTHESES = ["w1 w2", "w3 w4 w5"], ["w3", "w1"]


@pytest.fixture
def stub(channel: Channel) -> GRPCInferenceServiceStub:
    return GRPCInferenceServiceStub(channel)


def raw(*texts: bytes) -> bytes:
    return b"".join(len(text).to_bytes(4, "little") + text for text in texts)


def typed(model: str, **inputs: list[str]) -> pb.ModelInferRequest:
    request = pb.ModelInferRequest(model_name=model)
    for name, texts in inputs.items():
        tensor = request.inputs.add(name=name, datatype="BYTES", shape=[len(texts), 1])
        tensor.contents.bytes_contents.extend(text.encode() for text in texts)
    return request


def as_raw(request: pb.ModelInferRequest) -> pb.ModelInferRequest:
    copy = pb.ModelInferRequest.FromString(request.SerializeToString())
    for tensor in copy.inputs:
        copy.raw_input_contents.append(raw(*tensor.contents.bytes_contents))
        tensor.ClearField("contents")
    return copy


def floats(response: pb.ModelInferResponse) -> np.ndarray:
    [output] = response.outputs
    assert output.datatype == "FP32"
    assert not output.HasField("contents")
    return np.frombuffer(response.raw_output_contents[0], "<f4").reshape(list(output.shape))


async def refusal(stub: GRPCInferenceServiceStub, request: pb.ModelInferRequest) -> tuple[StatusCode, list[str]]:
    error = await error_of(stub.ModelInfer(request))
    return error.code(), fields_of(error)


async def test_the_nli_model_answers_what_entail_answers(stub: GRPCInferenceServiceStub, channel: Channel) -> None:
    pairs = [inference_pb2.TextPair(premise=p, hypothesis=h) for p, h in zip(PREMISES, HYPOTHESES, strict=True)]
    native = await InferenceServiceStub(channel).Entail(inference_pb2.EntailRequest(pairs=pairs))
    scores = [result.scores for result in native.results]
    request = typed("nli", hypothesis=HYPOTHESES, premise=PREMISES)
    for same in (request, as_raw(request)):
        rows = floats(await stub.ModelInfer(same))
        assert rows.tolist() == [[score.entailment, score.neutral, score.contradiction] for score in scores]


async def test_the_embedder_answers_what_embed_answers(stub: GRPCInferenceServiceStub, channel: Channel) -> None:
    native = await InferenceServiceStub(channel).Embed(inference_pb2.EmbedRequest(texts=PREMISES))
    rows = floats(await stub.ModelInfer(typed("embed", text=PREMISES)))
    assert rows.tolist() == [list(result.embedding.values) for result in native.results]


async def test_the_judge_answers_what_judge_answers(stub: GRPCInferenceServiceStub, channel: Channel) -> None:
    sources = ["The bridge will close for nine months. Repairs cost 4.2 million dollars.", "The bridge is old."]
    summaries = ["The bridge will close for ten months.", "The bridge is new."]
    request = typed("judge", source=sources, summary=summaries)
    request.parameters["framework"].string_param = "twin-lock"
    response = await stub.ModelInfer(request)
    scores = np.frombuffer(response.raw_output_contents[0], "<f4").reshape(2, 5)
    length = int.from_bytes(response.raw_output_contents[1][:4], "little")
    evidence = json.loads(response.raw_output_contents[1][4 : 4 + length])
    for row, (source, summary) in enumerate(zip(sources, summaries, strict=True)):
        wanted = judge_pb2.JudgeRequest(source=source, summary=summary, frameworks=[TWIN_LOCK])
        native = (await JudgeServiceStub(channel).Judge(wanted)).result
        assert scores[row].tolist() == np.array([m.score for m in native.frameworks[0].metrics], np.float32).tolist()
        assert row or evidence["request_hash"] == native.request_hash


async def test_a_score_that_there_is_none_of_is_not_a_number(stub: GRPCInferenceServiceStub) -> None:
    request = typed("judge", source=[JAPANESE], summary=[JAPANESE])
    request.outputs.add(name="scores")
    assert np.isnan(floats(await stub.ModelInfer(request))).all()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"datatype": "FP32"}, "inputs[0].datatype"),
        ({"name": "other"}, "inputs[0].name"),
        ({"shape": [2, 2]}, "inputs[0].shape"),
        ({"shape": [0, 1]}, "inputs[0].shape"),
        ({"shape": [-1, 1]}, "inputs[0].shape"),
        ({"shape": [1 << 40, 1]}, "inputs[0].shape"),
        ({"shape": [3, 1]}, "inputs[0].contents.bytes_contents"),
        ({"parameters": {"shared_memory_region": pb.InferParameter()}}, "inputs[0].parameters.shared_memory_region"),
    ],
)
async def test_a_wrong_input_is_refused_by_its_field(
    stub: GRPCInferenceServiceStub, change: dict[str, Any], field: str
) -> None:
    request = typed("embed", text=PREMISES)
    tensor: Any = request.inputs[0]
    for name in change:
        tensor.ClearField(name)
    tensor.MergeFrom(pb.ModelInferRequest.InferInputTensor(**change))
    assert await refusal(stub, request) == (StatusCode.INVALID_ARGUMENT, [field])


TWO = b"w1", b"w2"


@pytest.mark.parametrize(
    ("content", "field"),
    [
        *((content, "raw_input_contents[0]") for content in (b"", raw(b"w1"), raw(*TWO, b"w3"))),
        (raw(b"w1") + b"\xff\xff\xff\xffw2", "raw_input_contents[0]"),
        *((raw(b"w1", text), "text[1]") for text in (b"\xff", b"", b" ", b"w" * 100_001)),
    ],
)
async def test_wrong_raw_texts_are_refused_by_input_and_row(
    stub: GRPCInferenceServiceStub, content: bytes, field: str
) -> None:
    request = as_raw(typed("embed", text=PREMISES))
    request.raw_input_contents[0] = content
    assert await refusal(stub, request) == (StatusCode.INVALID_ARGUMENT, [field])


async def test_what_does_not_belong_together_is_refused(stub: GRPCInferenceServiceStub) -> None:
    both, negative = typed("embed", text=PREMISES), typed("embed", text=["w1"])
    both.raw_input_contents.append(raw(*TWO))
    negative.parameters["timeout"].int64_param = -1
    for request, field in (
        (both, "inputs[0].contents"),
        (typed("nli", premise=PREMISES, hypothesis=["w1"]), "inputs[1].shape"),
        (typed("judge", source=["A bridge.", "A bridge."], summary=["A bridge.", " "]), "summary[1]"),
        (negative, "parameters.timeout"),
    ):
        assert await refusal(stub, request) == (StatusCode.INVALID_ARGUMENT, [field])


async def test_a_timeout_of_the_request_ends_it(stub: GRPCInferenceServiceStub, gate: Gate) -> None:
    gate.close()
    request = typed("embed", text=["w1"])
    request.parameters["timeout"].int64_param = 50_000
    assert (await error_of(stub.ModelInfer(request))).code() is StatusCode.DEADLINE_EXCEEDED


async def test_a_stream_answers_in_order_and_survives_what_fails(stub: GRPCInferenceServiceStub) -> None:
    sent = [typed("embed", text=["w1 " * 50]), typed("nope"), typed("embed", text=[" "]), typed("embed", text=["w1"])]
    for index, request in enumerate(sent):
        request.id = str(index)
    responses = [response async for response in stub.ModelStreamInfer(iter(sent))]
    assert [response.infer_response.id for response in responses] == ["0", "1", "2", "3"]
    assert [bool(response.error_message) for response in responses] == [False, True, True, False]
    assert all(response.infer_response.parameters["triton_final_response"].bool_param for response in responses)


async def test_all_rows_of_a_stream_are_counted(stub: GRPCInferenceServiceStub) -> None:
    requests = [typed("embed", text=[f"w{row}" for row in range(count)]) for count in (20, 7, 1)]
    requests.append(typed("judge", source=["w1 w2."] * 2, summary=["w1.", "w3."]))
    with log_lines() as lines:
        assert len([one async for one in stub.ModelStreamInfer(iter(requests))]) == 4
        assert "items=30 " in await lines.wait_for("ModelStreamInfer")


async def test_the_platform_is_what_computes_and_an_unknown_model_is_not_ready(channel: Channel) -> None:
    stub = GRPCInferenceServiceStub(channel)
    listed = await InferenceServiceStub(channel).ListModels(inference_pb2.ListModelsRequest())
    for model in listed.models:
        name = "nli" if model.task == inference_pb2.MODEL_TASK_NLI else "embed"
        platform = "precis_core" if model.execution_provider.startswith("PrecisCore") else "onnxruntime_onnx"
        assert (await stub.ModelConfig(pb.ModelConfigRequest(name=name))).config.platform == platform
    for unknown in (pb.ModelReadyRequest(name="nope"), pb.ModelReadyRequest(name="embed", version="2")):
        assert not (await stub.ModelReady(unknown)).ready


async def test_a_model_that_the_settings_leave_out_is_known_and_not_ready(connected: Connect) -> None:
    async with connected(inference={"roles": ("nli",)}) as (_, channel):
        stub = GRPCInferenceServiceStub(channel)
        assert not (await stub.ModelReady(pb.ModelReadyRequest(name="judge"))).ready
        index = await stub.RepositoryIndex(pb.RepositoryIndexRequest())
        states = {model.name: model.state for model in index.models}
        assert states == {"nli": "READY", "embed": "UNAVAILABLE", "judge": "UNAVAILABLE"}
        error = await error_of(stub.ModelInfer(typed("embed", text=["w1"])))
        assert error.code() is StatusCode.FAILED_PRECONDITION


async def test_statistics_count_requests_rows_and_time(stub: GRPCInferenceServiceStub) -> None:
    await stub.ModelInfer(typed("embed", text=["w1", "w2"]))
    await refusal(stub, typed("embed", text=[" "]))
    response = await stub.ModelStatistics(pb.ModelStatisticsRequest(name="embed"))
    [statistics] = response.model_stats
    batches = [(one.batch_size, one.compute_infer.count) for one in statistics.batch_stats]
    assert batches in ([(1, 2)], [(2, 1)])  # an idle worker may take the first row before the second has come
    assert (statistics.inference_count, statistics.execution_count) == (2, batches[0][1])
    assert (statistics.inference_stats.success.count, statistics.inference_stats.fail.count) == (1, 1)
    assert statistics.inference_stats.success.ns > statistics.inference_stats.compute_infer.ns > 0
    assert statistics.last_inference > 0
