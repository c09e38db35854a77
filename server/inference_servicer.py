"""InferenceService: the compiled models behind the dynamic batcher."""

from precis.v1 import inference_pb2
from precis.v1.inference_pb2_grpc import InferenceServiceServicer

from inference.engine import Engine
from inference.errors import InputTooLongError, ListTooLongError
from inference.front_doors import ItemBatch
from server.call_terms import to_call
from server.calls import CallRecord, Context, current_call
from server.config import LimitsConfig
from server.convert_inference import to_embed_response, to_entail_response, to_identity, to_model
from server.errors import ModelNotLoadedError
from server.parse_inference import parse_pairs, parse_texts, to_invalid_request


class InferenceServicer(InferenceServiceServicer):
    """Runs the sentence embedder and the NLI cross-encoder."""

    def __init__(self, engine: Engine, limits: LimitsConfig) -> None:
        """Takes an engine that has started."""
        self._engine = engine
        self._limits = limits
        self._embedder = engine.embedder if "embedding" in engine.models else None
        self._nli = engine.nli if "nli" in engine.models else None
        self._identities = {role: to_identity(model.directory) for role, model in engine.models.items()}

    async def Embed(self, request: inference_pb2.EmbedRequest, context: Context) -> inference_pb2.EmbedResponse:
        """Embeds a list of texts."""
        if self._embedder is None:
            raise ModelNotLoadedError("embedding")
        texts = parse_texts(request, self._limits)
        call = to_call(context, request.priority)
        try:
            batch = await self._embedder.embed(texts, call)
        except (InputTooLongError, ListTooLongError) as error:
            raise to_invalid_request(error, "texts") from error
        return to_embed_response(batch, self._identities["embedding"], _noted(batch).call_id)

    async def Entail(self, request: inference_pb2.EntailRequest, context: Context) -> inference_pb2.EntailResponse:
        """Scores a list of premise and hypothesis pairs."""
        if self._nli is None:
            raise ModelNotLoadedError("nli")
        pairs = parse_pairs(request, self._limits)
        call = to_call(context, request.priority)
        try:
            batch = await self._nli.entail(pairs, call)
        except (InputTooLongError, ListTooLongError) as error:
            raise to_invalid_request(error, "pairs") from error
        return to_entail_response(batch, self._identities["nli"], _noted(batch).call_id)

    async def ListModels(
        self, request: inference_pb2.ListModelsRequest, context: Context
    ) -> inference_pb2.ListModelsResponse:
        """Lists the loaded models."""
        models = [to_model(model, is_ready=self._engine.is_ready) for model in self._engine.models.values()]
        current_call().item_count = len(models)
        return inference_pb2.ListModelsResponse(models=models)


def _noted(batch: ItemBatch) -> CallRecord:
    """Tells the log line what the batcher did."""
    record = current_call()
    record.item_count = len(batch.token_counts)
    record.queue_ms = batch.timings.queue_s * 1e3
    return record
