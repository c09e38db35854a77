"""The measured RPCs: how to draw inputs, make a request, and check an answer."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from precis.oip import open_inference_pb2 as oip
from precis.v1 import inference_pb2 as pb

from scripts.benchmarks.shared.corpus import Corpus
from scripts.benchmarks.shared.raw_model import Item


@dataclass(frozen=True)
class Method:
    """One RPC of InferenceService, or the same through the Open Inference Protocol.

    Attributes:
        name: short name, the prefix of the figures.
        role: folder of the model below the models folder.
        path: full method name on the wire.
        draw: takes distinct inputs from a corpus.
        request: serializes one request for a list of inputs.
        check: parses an answer to a list of the given size and returns its cache hits.
            Raises RuntimeError unless every input has a result.
    """

    name: str
    role: str
    path: str
    draw: Callable[[Corpus, int], Sequence[Item]]
    request: Callable[[Sequence[Item]], bytes]
    check: Callable[[bytes, int], int]


def _embed_request(items: Sequence[Item]) -> bytes:
    return pb.EmbedRequest(texts=[str(item) for item in items]).SerializeToString()


def _entail_request(items: Sequence[Item]) -> bytes:
    pairs = [pb.TextPair(premise=item[0], hypothesis=item[1]) for item in items]
    return pb.EntailRequest(pairs=pairs).SerializeToString()


def _infer_request(items: Sequence[Item]) -> bytes:
    request = oip.ModelInferRequest(model_name="nli")
    for column, name in enumerate(("premise", "hypothesis")):
        request.inputs.add(name=name, datatype="BYTES", shape=[len(items), 1])
        texts = [item[column].encode() for item in items]
        request.raw_input_contents.append(b"".join(struct.pack("<I", len(text)) + text for text in texts))
    return request.SerializeToString()


def _check_embed(answer: bytes, size: int) -> int:
    response = pb.EmbedResponse.FromString(answer)
    return _hits([result.HasField("embedding") for result in response.results], size, response.timings)


def _check_entail(answer: bytes, size: int) -> int:
    response = pb.EntailResponse.FromString(answer)
    return _hits([result.HasField("scores") for result in response.results], size, response.timings)


def _check_infer(answer: bytes, size: int) -> int:
    response = oip.ModelInferResponse.FromString(answer)
    if not response.outputs or any(output.shape[0] != size for output in response.outputs):
        raise RuntimeError(f"not all of {size} inputs were answered")
    return 0  # the protocol has no place for hits


def _hits(answered: Sequence[bool], size: int, timings: pb.InferenceTimings) -> int:
    if len(answered) != size or not all(answered):
        raise RuntimeError(f"{sum(answered)} of {size} inputs were answered")
    return timings.cache_hit_count


EMBED = Method("embed", "embedding", "/precis.v1.InferenceService/Embed", Corpus.texts, _embed_request, _check_embed)
ENTAIL = Method("entail", "nli", "/precis.v1.InferenceService/Entail", Corpus.pairs, _entail_request, _check_entail)
ENTAIL_OIP = Method(
    "entail_oip", "nli", "/inference.GRPCInferenceService/ModelInfer", Corpus.pairs, _infer_request, _check_infer
)
