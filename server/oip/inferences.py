"""What computes the rows of a request: the NLI model, the embedder, and the judge over both."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from google.protobuf.json_format import MessageToJson
from precis.oip import open_inference_pb2
from precis.v1 import common_pb2, judge_pb2
from precis.v1.judge_pb2_grpc import JudgeServiceServicer
from precis.words import word_of

from inference.call import Call
from inference.engine import Engine
from inference.front_doors import ItemBatch
from pipeline.errors import InvalidInputError
from server.config import LimitsConfig
from server.errors import refusal
from server.oip.tensors import Tensor, model_config
from server.rpc.admission import Context
from server.rpc.models import PRIORITIES, ROLES
from server.rpc.streams import map_concurrently
from server.services.inference import asked, check_texts

_METRICS = judge_pb2.JudgeMetricName.values()[1:]
_FRAMEWORKS = {word_of(judge_pb2.JudgeFramework, number): number for number in judge_pb2.JudgeFramework.values()[1:]}


@dataclass(frozen=True, slots=True)
class InferenceRequest:
    """A request whose tensors have been read."""

    texts: Sequence[Sequence[str]]  # of each input, in the order of its description; as many in each
    wanted: frozenset[str]  # names of the outputs that are asked for
    call: Call
    context: Context
    parameters: Any  # map of names to InferParameter


Outcome = tuple[dict[str, Tensor], ItemBatch | None]
"""The outputs by name; and what the engine computed, where one batch was all."""


@dataclass(frozen=True, slots=True)
class EngineInference:
    """What the engine computes itself: pairs to probabilities, or texts to vectors."""

    config: open_inference_pb2.ModelConfig
    ask: Callable[[Sequence[Any], Call], Awaitable[ItemBatch]]  # computes the rows of a request
    limits: LimitsConfig

    async def infer(self, request: InferenceRequest) -> Outcome:
        """Computes all rows. Raises InvalidRequestError or InferenceError."""
        names, texts = [one.name for one in self.config.input], request.texts
        for name, column in zip(names, texts, strict=True):
            check_texts(column, self.limits, partial("{}[{}]".format, name))
        rows = texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))
        batch = await asked(self.ask, rows, request.call, names[-1])
        for failure in batch.errors.values():
            raise failure  # there is no response for some of the rows alone
        return {self.config.output[0].name: batch.values}, batch


class JudgeInference:
    """Sources and summaries to scores, in the order of JudgeMetricName, with their evidence as JSON.

    A score that there is none of is NaN.
    """

    def __init__(self, servicer: JudgeServiceServicer) -> None:
        self._servicer = servicer
        evidence = open_inference_pb2.ModelOutput(name="evidence", data_type=open_inference_pb2.TYPE_STRING, dims=[1])
        outputs = (_numbers("scores", len(_METRICS)), evidence)
        self.config = model_config("judge", ("source", "summary"), outputs, max_rows=32)

    async def infer(self, request: InferenceRequest) -> Outcome:
        """Judges all rows, a few at once. Raises InvalidInputError and what Judge raises."""
        framework = _framework(request.parameters)
        view = common_pb2.RESULT_VIEW_CLAIMS if "evidence" in request.wanted else common_pb2.RESULT_VIEW_SCORES
        template = judge_pb2.JudgeRequest(
            frameworks=[framework], view=view, priority=PRIORITIES.numbers[request.call.priority]
        )
        judge = partial(self._judge_row, template, request.context)
        async with aclosing(map_concurrently(_rows(request), judge, limit=4)) as judged:
            results = {row: result async for row, result in judged}
        ordered = [results[row] for row in range(len(results))]
        scores = np.array([_scores(result) for result in ordered], dtype=np.float32)
        tensors: dict[str, Tensor] = {"scores": scores}
        if "evidence" in request.wanted:
            to_json = partial(MessageToJson, preserving_proto_field_name=True, indent=None)
            tensors["evidence"] = [to_json(result).encode() for result in ordered]
        return tensors, None

    async def _judge_row(
        self, template: judge_pb2.JudgeRequest, context: Context, row: tuple[int, str, str]
    ) -> tuple[int, judge_pb2.JudgeResult]:
        index, source, summary = row
        request = judge_pb2.JudgeRequest(source=source, summary=summary)
        request.MergeFrom(template)
        try:
            return index, (await self._servicer.Judge(request, context)).result
        except InvalidInputError as error:
            raise InvalidInputError(f"{error.field}[{index}]", error.expected, error.got) from error


Inference = EngineInference | JudgeInference


NAMES = {"nli": "nli", "embed": "embedding", "judge": "embedding and nli"}
"""All models of this service, and what each needs."""


def open_inferences(engine: Engine, limits: LimitsConfig, judge: JudgeServiceServicer) -> dict[str, Inference]:
    """Returns the models that the engine can compute, by name; the judge needs both of its models."""
    inferences: list[Inference] = []
    if "nli" in engine.models:
        pair, scores = ("premise", "hypothesis"), _numbers("probabilities", 3)  # entailment, neutral, contradiction
        provider = engine.models["nli"].compute.backends[0].execution_provider
        config = model_config("nli", pair, [scores], max_rows=limits.max_items, provider=provider)
        inferences.append(EngineInference(config, engine.nli.entail, limits))
    if "embedding" in engine.models:
        vector = _numbers("embedding", engine.embedder.model.manifest.dimension or 0)
        provider = engine.models["embedding"].compute.backends[0].execution_provider
        config = model_config("embed", ["text"], [vector], max_rows=limits.max_items, provider=provider)
        inferences.append(EngineInference(config, engine.embedder.embed, limits))
    if len(inferences) == len(ROLES):
        inferences.append(JudgeInference(judge))
    return {inference.config.name: inference for inference in inferences}


def _numbers(name: str, columns: int) -> open_inference_pb2.ModelOutput:
    return open_inference_pb2.ModelOutput(name=name, data_type=open_inference_pb2.TYPE_FP32, dims=[columns])


def _framework(parameters: Any) -> judge_pb2.JudgeFramework.ValueType:  # noqa: ANN401 - a map of protobuf's
    if "framework" not in parameters:
        return _FRAMEWORKS["ultra"]
    parameter: open_inference_pb2.InferParameter = parameters["framework"]
    number = _FRAMEWORKS.get(parameter.string_param)
    if not number:
        words = ", ".join(word for word, value in _FRAMEWORKS.items() if value)
        raise refusal("parameters.framework", f"expected one of {words}, got another")
    return number


async def _rows(request: InferenceRequest) -> AsyncIterator[tuple[int, str, str]]:
    for index, (source, summary) in enumerate(zip(*request.texts, strict=True)):
        yield index, source, summary


def _scores(result: judge_pb2.JudgeResult) -> list[float]:
    metrics = result.frameworks[0].metrics if result.frameworks else ()
    found = {metric.name: metric.score for metric in metrics if metric.HasField("score")}
    return [found.get(name, float("nan")) for name in _METRICS]
