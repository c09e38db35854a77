"""Metrics of a served process, as a collector gets them by OTLP."""

from pathlib import Path

from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from precis.v1 import inference_pb2 as pb
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.observe.collector import attributes_of, collector
from tests.integration.support.traced_server import precis_serve
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

CUMULATIVE = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
RPC = {"rpc": "precis.v1.InferenceService/Embed"}
CALLS = 3


async def test_a_collector_gets_what_prometheus_reads_once_more_at_the_end(tiny_models: Path) -> None:
    async with ScriptedEndpoint(Script()) as endpoint, collector() as taken:
        settings = {
            "METRICS__OTLP_ENDPOINT": taken.metrics_endpoint,
            "METRICS__OTLP_EVERY_S": "3600",
            "METRICS__OTLP_HEADERS": '{"x-team": "docs"}',
        }
        async with precis_serve(tiny_models, endpoint, **settings) as (_, channel):
            for number in range(CALLS):
                await InferenceServiceStub(channel).Embed(pb.EmbedRequest(texts=[f"w{number}"]))
    assert taken.headers["x-team"] == "docs"
    assert {"service.name", "service.version", "service.instance.id"} <= set(taken.resource)
    counted = taken.metrics["precis_calls_total"].sum
    assert (counted.is_monotonic, counted.aggregation_temporality) == (True, CUMULATIVE)
    [calls] = [one for one in counted.data_points if attributes_of(one.attributes) == {**RPC, "code": "OK"}]
    assert calls.as_double == CALLS
    [took] = [
        one
        for one in taken.metrics["precis_call_seconds"].histogram.data_points
        if attributes_of(one.attributes) == RPC
    ]
    assert (took.count, sum(took.bucket_counts), took.HasField("max")) == (CALLS, CALLS, False)
    assert len(took.bucket_counts) == len(took.explicit_bounds) + 1
    assert took.sum > 0
    [build] = taken.metrics["precis_build_info"].gauge.data_points
    assert attributes_of(build.attributes)["version"] == taken.resource["service.version"]
    assert taken.metrics["precis_ready"].gauge.data_points
