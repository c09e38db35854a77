"""Inputs and outputs of the models, as the Open Inference Protocol describes them."""

from dataclasses import dataclass

from precis.oip import open_inference_pb2 as pb

VERSION = "1"
TEXT = "BYTES"
NUMBER = "FP32"

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
