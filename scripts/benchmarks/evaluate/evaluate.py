"""Benchmark: evaluations per second through the server, and whether the loss prefers faithful summaries.

The result cache is off: data that share texts would be answered from it.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from precis.v1 import evaluate_pb2 as pb

from scripts.benchmarks.evaluate.golden_data import evaluation_requests
from scripts.benchmarks.evaluate.loss_order import golden_texts, order_by_damage, order_requests
from scripts.benchmarks.shared.load_client import LoadClient
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Figure, Report

EVALUATE = "/precis.v1.EvaluateService/Evaluate"
NO_CACHE = {"PRECIS_INFERENCE__CACHE__MAX_BYTES": "0"}
IN_FLIGHT = 2
ROUND = 2  # data in a round
QUICK_S, FULL_S = 10.0, 120.0
QUICK_TEXTS = 10  # of the data that loss_order is measured on; else all


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Starts the server and evaluates in rounds until the time is up, then the summaries whose order is known."""
    texts = golden_texts()
    with PrecisServer(models, NO_CACHE) as server, LoadClient(server.address) as client:
        seconds, responses = _rounds(client, evaluation_requests(data), QUICK_S if quick else FULL_S)
        ordered = list(order_requests(texts, QUICK_TEXTS if quick else len(texts)))
        losses = [response.loss for response in _evaluate(client, ordered)[1]]
    by_damage = order_by_damage(losses)
    figures: dict[str, Figure] = {
        "data_per_s": len(responses) / seconds,
        "data": len(responses),
        "pairs_per_datum": mean(response.nli.scored_pair_count for response in responses),
        "loss_order": mean(by_damage.values()),
        "loss_order_by_damage": {str(damage): share for damage, share in by_damage.items()},
    }
    rows = [[f"loss_order: {damage}", f"{share:.3f}"] for damage, share in by_damage.items()]
    rows += [[name, f"{figures[name]:.3f}"] for name in ("loss_order", "data_per_s", "pairs_per_datum")]
    title = f"evaluate: {len(responses)} data, {IN_FLIGHT} in flight; {len(losses)} summaries in order"
    return Report(title, ("figure", "value"), rows, figures)


def _rounds(
    client: LoadClient, requests: Iterator[pb.EvaluateRequest], most_s: float
) -> tuple[float, list[pb.EvaluateResponse]]:
    """Returns the seconds that evaluating took, and the answers; there is at least one round."""
    stop, seconds, responses = time.monotonic() + most_s, 0.0, list[pb.EvaluateResponse]()
    while not responses or time.monotonic() < stop:
        round_s, answers = _evaluate(client, [next(requests) for _ in range(ROUND)])
        seconds += round_s
        responses += answers
    return seconds, responses


def _evaluate(client: LoadClient, requests: Sequence[pb.EvaluateRequest]) -> tuple[float, list[pb.EvaluateResponse]]:
    result = client.run(EVALUATE, [request.SerializeToString() for request in requests], in_flight=IN_FLIGHT)
    return result.seconds, [pb.EvaluateResponse.FromString(response) for response in result.responses]
