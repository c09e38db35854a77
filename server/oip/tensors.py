"""Inputs and outputs of the models: how they are described, texts read out of requests, tensors written into responses.

Data flow: `inputs` with their elements, typed or raw -> one list of texts for each input of the model. Back: rows of
numbers or texts -> `outputs` with raw elements. Answers are raw whatever the request was: that is all that Triton's
client reads.
"""

from collections.abc import Sequence

import numpy as np
from precis.oip import open_inference_pb2 as pb

from pipeline.protocols import Float32
from server.errors import refusal

VERSION = "1"
TEXT = "BYTES"
NUMBER = "FP32"

Tensor = Float32 | Sequence[bytes]
InputTensor = pb.ModelInferRequest.InferInputTensor

# The descriptions are Triton's own: a matrix with a row for each item, whose dimensions leave out the rows.
_DATA_TYPES = {pb.TYPE_STRING: TEXT, pb.TYPE_FP32: NUMBER}


def model_config(
    name: str, inputs: Sequence[str], outputs: Sequence[pb.ModelOutput], *, max_rows: int, provider: str = ""
) -> pb.ModelConfig:
    """Describes a model of texts. With a provider it is the engine's, whose batches have rows of several requests."""
    platform = "onnxruntime_onnx" if provider.endswith("ExecutionProvider") else "precis_core" if provider else "precis"
    config = pb.ModelConfig(
        name=name,
        platform=platform,
        max_batch_size=max_rows,
        input=[pb.ModelInput(name=one, data_type=pb.TYPE_STRING, dims=[1]) for one in inputs],
        output=outputs,
        backend=platform,
        model_transaction_policy=pb.ModelTransactionPolicy(decoupled=False),
    )
    if provider:
        config.dynamic_batching.CopyFrom(pb.ModelDynamicBatching(priority_levels=2, default_priority_level=1))
    return config


def to_metadata(config: pb.ModelConfig) -> pb.ModelMetadataResponse:
    """Describes a model as KServe does; the first dimension, the rows, is not known."""

    def described(tensor: pb.ModelInput | pb.ModelOutput) -> pb.ModelMetadataResponse.TensorMetadata:
        datatype, shape = _DATA_TYPES[tensor.data_type], [-1, *tensor.dims]
        return pb.ModelMetadataResponse.TensorMetadata(name=tensor.name, datatype=datatype, shape=shape)

    return pb.ModelMetadataResponse(
        name=config.name,
        versions=[VERSION],
        platform=config.platform,
        inputs=map(described, config.input),
        outputs=map(described, config.output),
    )


def read_texts(request: pb.ModelInferRequest, config: pb.ModelConfig) -> list[list[str]]:
    """Returns the texts of every input, in the order of its description. Raises InvalidRequestError."""
    raw, names = request.raw_input_contents, [one.name for one in config.input]
    if raw and len(raw) != len(request.inputs):
        raise refusal("raw_input_contents", f"expected {len(request.inputs)} entries, one an input, got {len(raw)}")
    texts: dict[str, list[str]] = {}
    row_count = 0
    for index, tensor in enumerate(request.inputs):
        field = f"inputs[{index}]"
        rows = _check_input(tensor, names, config.max_batch_size, field)
        if tensor.name in texts:
            raise refusal(f"{field}.name", "expected each input once, got one again")
        if texts and rows != row_count:
            raise refusal(f"{field}.shape", f"expected {row_count} rows as in inputs[0], got {rows}")
        row_count = rows
        if raw and tensor.HasField("contents"):
            raise refusal(f"{field}.contents", "expected nothing beside raw_input_contents")
        place = f"raw_input_contents[{index}]" if raw else f"{field}.contents.bytes_contents"
        elements = _split(raw[index], rows, place) if raw else tensor.contents.bytes_contents
        if len(elements) != rows:
            raise refusal(place, f"expected {rows} texts as in the shape, got {len(elements)}")
        texts[tensor.name] = _decode(elements, tensor.name)
    if len(texts) < len(names):
        missing = ", ".join(name for name in names if name not in texts)
        raise refusal("inputs", f"expected {', '.join(names)}; {missing} is missing")
    return [texts[name] for name in names]


def wanted_outputs(request: pb.ModelInferRequest, config: pb.ModelConfig) -> list[pb.ModelOutput]:
    """Returns the outputs that the request asks for, in its order. Raises InvalidRequestError."""
    if not request.outputs:
        return list(config.output)
    known = {tensor.name: tensor for tensor in config.output}
    wanted: list[pb.ModelOutput] = []
    for index, output in enumerate(request.outputs):
        field = f"outputs[{index}]"
        tensor = known.get(output.name)
        if tensor is None or tensor in wanted:
            raise refusal(f"{field}.name", f"expected one of {', '.join(known)}, each once, got another")
        _check_parameters(output, field)
        wanted.append(tensor)
    return wanted


def write_tensor(response: pb.ModelInferResponse, described: pb.ModelOutput, rows: Tensor) -> None:
    """Adds an output: an array of shape (rows, columns), or one text a row."""
    output = response.outputs.add()
    output.name, output.datatype = described.name, _DATA_TYPES[described.data_type]
    output.shape.extend((len(rows), *described.dims))
    raw = rows.astype("<f4", copy=False).tobytes() if isinstance(rows, np.ndarray) else _joined(rows)
    response.raw_output_contents.append(raw)


def _check_input(tensor: InputTensor, names: Sequence[str], max_rows: int, field: str) -> int:
    """Returns the number of rows of an input. Raises InvalidRequestError for what is not as its model wants it."""
    if tensor.name not in names:
        raise refusal(f"{field}.name", f"expected one of {', '.join(names)}, got another")
    if tensor.datatype != TEXT:
        hint = f"{NUMBER} or another" if tensor.datatype else "none"
        raise refusal(f"{field}.datatype", f"expected {TEXT}, got {hint}")
    _check_parameters(tensor, field)
    shape = tensor.shape
    if not (len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)):  # noqa: PLR2004 - rows and columns
        raise refusal(f"{field}.shape", f"expected [rows, 1] or [rows], got {list(shape[:8])}")
    if not 1 <= shape[0] <= max_rows:
        raise refusal(f"{field}.shape", f"expected 1 to {max_rows} rows, got {shape[0]}")
    return shape[0]


def _check_parameters(tensor: InputTensor | pb.ModelInferRequest.InferRequestedOutputTensor, field: str) -> None:
    """Refuses what would change the meaning of a tensor; other parameters are ignored. Raises InvalidRequestError."""
    if not tensor.parameters:
        return
    for name in ("shared_memory_region", "classification"):
        if name in tensor.parameters:
            raise refusal(f"{field}.parameters.{name}", "expected none: this server does not have this extension")


def _split(data: bytes, rows: int, place: str) -> list[bytes]:
    """Takes a raw tensor of texts apart, each behind its length in 4 bytes. Raises InvalidRequestError."""
    elements: list[bytes] = []
    at = 0
    for _ in range(rows):
        begin = at + 4
        at = begin + int.from_bytes(data[at:begin], "little")
        elements.append(data[begin:at])
    if at != len(data):  # too short as well: a slice behind the end is empty, and a length counts as if it were there
        expected = f"expected {rows} texts, each behind its length in 4 bytes"
        raise refusal(place, f"{expected}, got {len(data)} bytes that are something else")
    return elements


def _decode(elements: Sequence[bytes], name: str) -> list[str]:
    try:
        return [element.decode() for element in elements]
    except UnicodeDecodeError as error:
        row = next(index for index, element in enumerate(elements) if element == error.object)
        found = f"expected UTF-8, got an invalid byte at offset {error.start}"
        raise refusal(f"{name}[{row}]", found) from None


def _joined(texts: Sequence[bytes]) -> bytes:
    return b"".join(part for text in texts for part in (len(text).to_bytes(4, "little"), text))
