"""Inputs and outputs of the models: how they are described, texts read out of requests, tensors written into responses.

Data flow: `inputs` with their elements, typed or raw -> one list of texts for each input of the model; and rows of
numbers or texts -> `outputs` with raw elements. Answers are raw whatever the request was: that is all that Triton's
client reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from precis.oip import open_inference_pb2 as pb

from pipeline.protocols import Float32
from server.errors import FieldViolation, InvalidRequestError

VERSION = "1"
TEXT = "BYTES"
NUMBER = "FP32"

Tensor = Float32 | Sequence[bytes]
InputTensor = pb.ModelInferRequest.InferInputTensor

_DATA_TYPES = {TEXT: pb.TYPE_STRING, NUMBER: pb.TYPE_FP32}


@dataclass(frozen=True, slots=True)
class TensorSignature:
    """One input or output: a matrix with a row for each item.

    Attributes:
        name: by which requests and responses name it.
        datatype: TEXT or NUMBER.
        columns: numbers or texts of a row.
    """

    name: str
    datatype: str
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Signature:
    """What a client has to know of a model.

    Attributes:
        name: of the model.
        platform: what computes it.
        max_rows: most rows of a request.
        is_batched: rows of several requests meet in one batch.
    """

    name: str
    platform: str
    inputs: tuple[TensorSignature, ...]
    outputs: tuple[TensorSignature, ...]
    max_rows: int
    is_batched: bool = True

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs, in their order."""
        return tuple(tensor.name for tensor in self.inputs)


def to_metadata(signature: Signature) -> pb.ModelMetadataResponse:
    """Describes a model as KServe does; the first dimension, the rows, is not known."""
    tensor = pb.ModelMetadataResponse.TensorMetadata
    return pb.ModelMetadataResponse(
        name=signature.name,
        versions=[VERSION],
        platform=signature.platform,
        inputs=[tensor(name=one.name, datatype=one.datatype, shape=[-1, one.columns]) for one in signature.inputs],
        outputs=[tensor(name=one.name, datatype=one.datatype, shape=[-1, one.columns]) for one in signature.outputs],
    )


def to_config(signature: Signature) -> pb.ModelConfig:
    """Describes a model as Triton does; the dimensions leave out the rows."""
    inputs, outputs = signature.inputs, signature.outputs
    config = pb.ModelConfig(
        name=signature.name,
        platform=signature.platform,
        max_batch_size=signature.max_rows,
        input=[pb.ModelInput(name=one.name, data_type=_DATA_TYPES[one.datatype], dims=[one.columns]) for one in inputs],
        output=[
            pb.ModelOutput(name=one.name, data_type=_DATA_TYPES[one.datatype], dims=[one.columns]) for one in outputs
        ],
        backend=signature.platform,
        model_transaction_policy=pb.ModelTransactionPolicy(decoupled=False),
    )
    if signature.is_batched:
        config.dynamic_batching.CopyFrom(pb.ModelDynamicBatching(priority_levels=2, default_priority_level=1))
    return config


def read_texts(request: pb.ModelInferRequest, signature: Signature) -> list[list[str]]:
    """Returns the texts of every input, in the order of the signature. Raises InvalidRequestError."""
    raw, names = request.raw_input_contents, signature.input_names
    if raw and len(raw) != len(request.inputs):
        raise refusal("raw_input_contents", f"expected {len(request.inputs)} entries, one an input, got {len(raw)}")
    texts: dict[str, list[str]] = {}
    row_count = 0
    for index, tensor in enumerate(request.inputs):
        field = f"inputs[{index}]"
        rows = _check_input(tensor, names, signature.max_rows, field)
        if tensor.name in texts:
            raise refusal(f"{field}.name", "expected each input once, got one again")
        if texts and rows != row_count:
            raise refusal(f"{field}.shape", f"expected {row_count} rows as in inputs[0], got {rows}")
        row_count = rows
        if raw and tensor.HasField("contents"):
            raise refusal(f"{field}.contents", "expected nothing beside raw_input_contents")
        place = f"raw_input_contents[{index}]" if raw else f"{field}.contents.bytes_contents"
        elements = _split(raw[index], rows, place) if raw else _typed(tensor, rows, place)
        texts[tensor.name] = _decode(elements, tensor.name)
    if len(texts) < len(names):
        missing = ", ".join(name for name in names if name not in texts)
        raise refusal("inputs", f"expected {', '.join(names)}; {missing} is missing")
    return [texts[name] for name in names]


def wanted_outputs(request: pb.ModelInferRequest, signature: Signature) -> list[TensorSignature]:
    """Returns the outputs that the request asks for, in its order. Raises InvalidRequestError."""
    if not request.outputs:
        return list(signature.outputs)
    known = {tensor.name: tensor for tensor in signature.outputs}
    wanted: list[TensorSignature] = []
    for index, output in enumerate(request.outputs):
        field = f"outputs[{index}]"
        tensor = known.get(output.name)
        if tensor is None or tensor in wanted:
            raise refusal(f"{field}.name", f"expected one of {', '.join(known)}, each once, got another")
        _check_parameters(output, field)
        wanted.append(tensor)
    return wanted


def write_tensor(response: pb.ModelInferResponse, signature: TensorSignature, rows: Tensor) -> None:
    """Adds an output: an array of shape (rows, columns), or one text a row."""
    output = response.outputs.add()
    output.name, output.datatype = signature.name, signature.datatype
    output.shape.extend((len(rows), signature.columns))
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


def _typed(tensor: InputTensor, rows: int, place: str) -> Sequence[bytes]:
    elements = tensor.contents.bytes_contents
    if len(elements) != rows:
        raise refusal(place, f"expected {rows} texts as in the shape, got {len(elements)}")
    return elements


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


def refusal(field: str, description: str) -> InvalidRequestError:
    """Blames a field of a request."""
    return InvalidRequestError([FieldViolation(field, description)])
