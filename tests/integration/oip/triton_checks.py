"""Checks of a server with Triton's own client, unchanged: blocking, asyncio, stream.

A program of its own, for a process has room for one definition of the protocol: ours or the client's. Imports nothing
of the project. Prints a line of JSON: how many checks passed, and those that failed.

Usage: triton_checks.py HOST:PORT DIMENSION
"""

import asyncio
import json
import queue
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from tritonclient.utils import InferenceServerException

PREMISES = ["w1 w2", "w3", "w4 w5 w6"]
HYPOTHESES = ["w3", "w1 w2", "w4"]
SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."


class Tally:
    """Counts checks that hold, and lists those that do not."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []

    def equal(self, what: str, got: object, wanted: object) -> None:
        """Compares."""
        if got == wanted:
            self.passed += 1
        else:
            self.failed.append(f"{what}: expected {wanted!r}, got {got!r}")

    def holds(self, what: str, fact: object) -> None:
        """Expects something that is true."""
        self.equal(what, bool(fact), wanted=True)

    def refused(self, what: str, code: str, part: str, call: Callable[[], object]) -> None:
        """Expects an error with a status code, and part of its message."""
        try:
            call()
        except InferenceServerException as error:
            self.equal(f"{what}: status", error.status(), f"StatusCode.{code}")
            self.holds(f"{what}: message {error.message()!r}", part in str(error.message()))
        else:
            self.failed.append(f"{what}: expected {code}, got an answer")


def tensor(name: str, texts: list[str], *, is_flat: bool = False) -> Any:  # noqa: ANN401 - the client has no types
    """Makes an input of texts."""
    array = np.array([text.encode() for text in texts], dtype=np.object_)
    array = array if is_flat else array.reshape(-1, 1)
    found = triton.InferInput(name, list(array.shape), "BYTES")
    found.set_data_from_numpy(array)
    return found


def pairs(count: int = 3) -> list[Any]:
    """Makes the inputs of the NLI model."""
    return [tensor("premise", PREMISES[:count]), tensor("hypothesis", HYPOTHESES[:count])]


def wanted(*names: str) -> list[Any]:
    """Asks for outputs."""
    return [triton.InferRequestedOutput(name) for name in names]


def check_server(client: Any, tally: Tally) -> None:  # noqa: ANN401
    tally.holds("live", client.is_server_live())
    tally.holds("ready", client.is_server_ready())
    for name in ("nli", "embed", "judge"):
        tally.holds(f"{name} is ready", client.is_model_ready(name))
    tally.holds("version 1 is ready", client.is_model_ready("nli", "1"))
    tally.holds("version 2 is not ready", not client.is_model_ready("nli", "2"))
    tally.holds("an unknown model is not ready", not client.is_model_ready("resnet"))
    metadata = client.get_server_metadata()
    tally.equal("server name", metadata.name, "precis")
    tally.holds("server version", bool(metadata.version))
    tally.holds("statistics extension", "statistics" in metadata.extensions)
    index = client.get_model_repository_index()
    tally.equal("index", {(m.version, m.state) for m in index.models}, {("1", "READY")})
    tally.equal("models", [model.name for model in index.models], ["nli", "embed", "judge"])
    as_json = client.get_server_metadata(as_json=True)
    tally.equal("metadata as JSON", as_json["name"], "precis")


def check_descriptions(client: Any, tally: Tally, dimension: int) -> None:  # noqa: ANN401
    for name, inputs, outputs in (
        (
            "nli",
            [("premise", "BYTES", [-1, 1]), ("hypothesis", "BYTES", [-1, 1])],
            [("probabilities", "FP32", [-1, 3])],
        ),
        ("embed", [("text", "BYTES", [-1, 1])], [("embedding", "FP32", [-1, dimension])]),
        (
            "judge",
            [("source", "BYTES", [-1, 1]), ("summary", "BYTES", [-1, 1])],
            [("scores", "FP32", [-1, 5]), ("evidence", "BYTES", [-1, 1])],
        ),
    ):
        metadata = client.get_model_metadata(name)
        tally.equal(f"{name} inputs", [(t.name, t.datatype, list(t.shape)) for t in metadata.inputs], inputs)
        tally.equal(f"{name} outputs", [(t.name, t.datatype, list(t.shape)) for t in metadata.outputs], outputs)
        tally.equal(f"{name} versions", list(metadata.versions), ["1"])
        config = client.get_model_config(name).config
        tally.equal(f"{name} config", [list(one.dims) for one in config.output], [shape[1:] for _, _, shape in outputs])
        tally.equal(f"{name} config's name", config.name, name)
        tally.holds(f"{name} is not decoupled", not config.model_transaction_policy.decoupled)
    config = client.get_model_config("nli").config
    tally.equal("rows", config.max_batch_size, 10_000)
    tally.equal("batching", config.WhichOneof("scheduling_choice"), "dynamic_batching")
    tally.equal("type", config.input[0].data_type, 13)
    tally.refused("unknown metadata", "NOT_FOUND", "no model", lambda: client.get_model_metadata("x"))
    tally.refused("unknown config", "NOT_FOUND", "no model", lambda: client.get_model_config("x"))


def check_inference(client: Any, tally: Tally, dimension: int) -> None:  # noqa: ANN401
    result = client.infer("nli", pairs(), request_id="a1", outputs=wanted("probabilities"))
    rows = result.as_numpy("probabilities")
    tally.equal("shape", rows.shape, (3, 3))
    tally.equal("type", rows.dtype, np.dtype(np.float32))
    tally.holds("rows sum to 1", bool(np.allclose(rows.sum(axis=1), 1, atol=1e-6)))
    tally.equal("request id", result.get_response().id, "a1")
    tally.equal("model", (result.get_response().model_name, result.get_response().model_version), ("nli", "1"))
    tally.equal("unknown output", result.as_numpy("other"), None)
    alone = client.infer("nli", pairs(1)).as_numpy("probabilities")
    tally.equal("a row does not depend on its company", alone[0].tolist(), rows[0].tolist())
    swapped = client.infer("nli", pairs()[::-1]).as_numpy("probabilities")
    tally.equal("inputs in any order", swapped.tolist(), rows.tolist())
    flat = [tensor("premise", PREMISES, is_flat=True), tensor("hypothesis", HYPOTHESES, is_flat=True)]
    tally.equal("flat", client.infer("nli", flat).as_numpy("probabilities").tolist(), rows.tolist())
    same = client.infer("nli", pairs(), compression_algorithm="gzip", priority=2, timeout=60_000_000)
    tally.equal("gzip, priority, timeout", same.as_numpy("probabilities").tolist(), rows.tolist())
    same = client.infer("nli", pairs(), model_version="1", parameters={"mine": "x", "n": 1, "is": True}, sequence_id=7)
    tally.equal("parameters of others", same.as_numpy("probabilities").tolist(), rows.tolist())
    vectors = client.infer("embed", [tensor("text", ["w1", "w2 w3"])]).as_numpy("embedding")
    tally.equal("embedding shape", vectors.shape, (2, dimension))
    tally.holds("unit length", bool(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)))
    umlaut = client.infer("embed", [tensor("text", ["Fuß ☂"])]).as_numpy("embedding")
    tally.equal("any script", umlaut.shape, (1, dimension))


def check_judge(client: Any, tally: Tally) -> None:  # noqa: ANN401
    inputs = [tensor("source", [SOURCE, SOURCE]), tensor("summary", [SOURCE, SUMMARY])]
    both = client.infer("judge", inputs, parameters={"framework": "twin-lock"})
    scores, evidence = both.as_numpy("scores"), both.as_numpy("evidence")
    tally.equal("scores", (scores.shape, bool(((scores >= 0) & (scores <= 10)).all())), ((2, 5), True))
    tally.equal("evidence", evidence.shape, (2, 1))
    tally.equal("evidence is JSON", json.loads(evidence[1][0])["claim_count"], 2)
    one = client.infer("judge", inputs, outputs=wanted("scores"), parameters={"framework": "twin-lock"})
    tally.equal("one output", [output.name for output in one.get_response().outputs], ["scores"])
    tally.equal("same scores", one.as_numpy("scores").tolist(), scores.tolist())
    wrong = {"framework": "other"}
    tally.refused("framework", "INVALID_ARGUMENT", "ultra", lambda: client.infer("judge", inputs, parameters=wrong))


def check_refusals(client: Any, tally: Tally) -> None:  # noqa: ANN401
    refuse = tally.refused
    text = [tensor("text", ["w1"])]
    refuse("missing", "INVALID_ARGUMENT", "hypothesis is missing", lambda: client.infer("nli", pairs()[:1]))
    refuse("output", "INVALID_ARGUMENT", "embedding", lambda: client.infer("embed", text, outputs=wanted("x")))
    classes = [triton.InferRequestedOutput("probabilities", class_count=1)]
    refuse("classes", "INVALID_ARGUMENT", "classification", lambda: client.infer("nli", pairs(), outputs=classes))
    refuse("model", "NOT_FOUND", "no model", lambda: client.infer("x", text))
    refuse("id", "INVALID_ARGUMENT", "256", lambda: client.infer("embed", text, request_id="x" * 257))
    refuse("load", "UNIMPLEMENTED", "loaded when the server starts", lambda: client.load_model("nli"))
    refuse("shared memory", "UNIMPLEMENTED", "send tensors", client.get_system_shared_memory_status)


def check_callbacks_and_streams(client: Any, tally: Tally) -> None:  # noqa: ANN401
    rows = client.infer("nli", pairs()).as_numpy("probabilities").tolist()
    answers: queue.Queue[Any] = queue.Queue()
    client.async_infer("nli", pairs(), lambda result, error: answers.put((result, error)))
    result, error = answers.get(timeout=60)
    tally.equal("callback", (error, result.as_numpy("probabilities").tolist()), (None, rows))
    client.start_stream(lambda result, error: answers.put((result, error)))
    for index in range(5):
        client.async_stream_infer("nli", pairs(), request_id=str(index))
    client.async_stream_infer("nli", pairs()[:1], request_id="bad")
    client.async_stream_infer("nli", pairs(), request_id="last", enable_empty_final_response=True)
    found = [answers.get(timeout=60) for _ in range(7)]
    ids = [result.get_response().id for result, error in found if error is None]
    tally.equal("stream in order", ids, ["0", "1", "2", "3", "4", "last"])
    errors = [str(error.message()) for _, error in found if error is not None]
    tally.equal("an error leaves the stream open", [("hypothesis is missing" in error) for error in errors], [True])
    tally.equal("stream rows", found[0][0].as_numpy("probabilities").tolist(), rows)
    final = found[6][0].get_response().parameters["triton_final_response"].bool_param
    tally.holds("final response", final)
    client.stop_stream()
    statistics = client.get_inference_statistics("nli").model_stats
    tally.equal("statistics of one model", [one.name for one in statistics], ["nli"])
    tally.holds("inferences are counted", statistics[0].inference_count >= 18)
    tally.holds("time is counted", statistics[0].inference_stats.success.ns > 0)
    tally.equal("statistics of all", len(client.get_inference_statistics().model_stats), 3)


async def check_asyncio(address: str, tally: Tally) -> None:
    async with triton_aio.InferenceServerClient(address) as client:
        tally.holds("asyncio: live", await client.is_server_live())
        tally.equal("asyncio: metadata", (await client.get_model_metadata("embed")).name, "embed")
        results = await asyncio.gather(*(client.infer("nli", pairs(), request_id=str(n)) for n in range(8)))
        tally.equal("asyncio: ids", [one.get_response().id for one in results], [str(n) for n in range(8)])
        tally.equal("asyncio: equal rows", len({one.as_numpy("probabilities").tobytes() for one in results}), 1)

        async def requests() -> AsyncIterator[dict[str, Any]]:
            for number in range(4):
                yield {"model_name": "embed", "inputs": [tensor("text", [f"w{number + 1}"])], "request_id": str(number)}

        streamed = [(result, error) async for result, error in client.stream_infer(requests())]
        tally.equal("asyncio: stream", [result.get_response().id for result, _ in streamed], ["0", "1", "2", "3"])
        tally.equal("asyncio: no errors", {error for _, error in streamed}, {None})
        try:
            await client.infer("embed", pairs())
        except InferenceServerException as error:
            tally.equal("asyncio: refusal", error.status(), "StatusCode.INVALID_ARGUMENT")


def main() -> int:
    """Runs all checks."""
    address, dimension = sys.argv[1], int(sys.argv[2])
    tally = Tally()
    client = triton.InferenceServerClient(address)
    check_server(client, tally)
    check_descriptions(client, tally, dimension)
    check_inference(client, tally, dimension)
    check_judge(client, tally)
    check_refusals(client, tally)
    check_callbacks_and_streams(client, tally)
    client.close()
    asyncio.run(check_asyncio(address, tally))
    sys.stdout.write(json.dumps({"passed": tally.passed, "failed": tally.failed}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
