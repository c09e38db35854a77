"""Golden requests of InferenceService, and of gRPC's own services."""

from typing import Any

from google.protobuf.message import Message
from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest
from precis.v1 import inference_pb2 as pb
from precis.v1.common_pb2 import PRIORITY_BULK

from tests.golden.case import EMBEDDING_ONLY, Case, cases
from tests.golden.texts import ARABIC, ARTICLE, CITY, FRENCH, GERMAN, JAPANESE

SERVICE = "precis.v1.InferenceService"
UNKNOWN: Any = 99  # proto3 lets unknown numbers through
LONG = "x" * 2_000_001
PREMISE = "The company reported on Tuesday that its profits rose by 12 percent last year."


def inference_cases() -> list[Case]:
    """Lists all."""
    embed, entail, models = [f"{SERVICE}.{method}" for method in ("Embed", "Entail", "ListModels")]
    health, reflect = "grpc.health.v1.Health.Check", "grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo"
    services = {"unknown": HealthCheckRequest(service="nobody"), "server": HealthCheckRequest()}
    inference = {"inference": HealthCheckRequest(service=SERVICE)}
    listed: dict[str, Message] = {"": pb.ListModelsRequest()}
    return [
        *cases(embed, _embed()),
        *cases(entail, _entail()),
        *cases(models, listed),
        *cases(models, listed, server=EMBEDDING_ONLY),
        *cases(entail, {"without nli": _pairs((PREMISE, "Profits grew."))}, server=EMBEDDING_ONLY),
        *cases(health, {**services, **inference}),
        *cases(reflect, {"list": ServerReflectionRequest(list_services="")}),
    ]


def _pairs(*pairs: tuple[str, str], **fields: Any) -> pb.EntailRequest:  # noqa: ANN401
    return pb.EntailRequest(pairs=[pb.TextPair(premise=one, hypothesis=other) for one, other in pairs], **fields)


def _embed() -> dict[str, Message]:
    return {
        "one": pb.EmbedRequest(texts=["A man is playing the guitar."]),
        "languages": pb.EmbedRequest(texts=[GERMAN, FRENCH, JAPANESE, ARABIC]),
        "long": pb.EmbedRequest(texts=[ARTICLE, "x"], priority=PRIORITY_BULK),
        "refused, none": pb.EmbedRequest(),
        "refused, blank": pb.EmbedRequest(texts=["a", " ", "b", ""]),
        "refused, long": pb.EmbedRequest(texts=["a", LONG]),
        "refused, many": pb.EmbedRequest(texts=["a"] * 10_001),
        "refused, priority": pb.EmbedRequest(texts=["a"], priority=UNKNOWN),
    }


def _entail() -> dict[str, Message]:
    claims = ("Profits grew.", "Profits fell.", "The chief executive resigned.")
    return {
        "relations": _pairs(*[(PREMISE, claim) for claim in claims]),
        "lengths": _pairs((CITY, "It cost $71 million."), (ARTICLE, "The gate held."), (ARTICLE, ARTICLE), ("a", "b")),
        "languages": _pairs(
            (GERMAN, "Eine Brücke wurde eröffnet."), (JAPANESE, "図書館が開館した。"), priority=PRIORITY_BULK
        ),
        "refused, none": _pairs(),
        "refused, blank": _pairs(("a", " "), ("", "b")),
        "refused, long": _pairs((LONG, "b")),
        "refused, priority": _pairs(("a", "b"), priority=UNKNOWN),
    }
