"""Benchmark: evaluations per second through the server, all NLI pairs against pruned ones, and what pruning changes.

Both modes get the same data in alternating rounds. The result cache is off: the pairs of the pruned mode are a part of
the exact mode's, and would be answered from it.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

from precis.v1 import evaluate_pb2 as pb

from scripts.benchmarks.evaluate.golden_data import evaluation_requests
from scripts.benchmarks.shared.load_client import LoadClient
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Figure, Report

EVALUATE = "/precis.v1.EvaluateService/Evaluate"
NO_CACHE = {"PRECIS_INFERENCE__CACHE__MAX_BYTES": "0"}
IN_FLIGHT = 2
ROUND = 2  # data in a round
QUICK_S, FULL_S = 34.0, 300.0
MODES = (pb.NLI_MODE_EXACT, pb.NLI_MODE_PRUNED)


@dataclass
class ModeRuns:
    """All runs of one mode; `seconds` has one entry per round, `responses` one per datum."""

    seconds: list[float] = field(default_factory=list)
    responses: list[pb.EvaluateResponse] = field(default_factory=list)

    @property
    def per_s(self) -> float:
        """Evaluations per second."""
        return len(self.responses) / sum(self.seconds)

    @property
    def pairs(self) -> float:
        """NLI pairs that the model scored for a datum, on average."""
        return sum(response.nli.scored_pair_count for response in self.responses) / len(self.responses)


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Starts the server and evaluates in rounds until another one would take too long; at least one."""
    requests = evaluation_requests(data)
    runs = {mode: ModeRuns() for mode in MODES}
    with PrecisServer(models, NO_CACHE) as server, LoadClient(server.address) as client:
        stop, round_s = time.monotonic() + (QUICK_S if quick else FULL_S), 0.0
        while not runs[MODES[0]].seconds or time.monotonic() + round_s < stop:
            started = time.monotonic()
            _run_round(client, requests, runs)
            round_s = time.monotonic() - started
    return _report(runs[pb.NLI_MODE_EXACT], runs[pb.NLI_MODE_PRUNED])


def _run_round(
    client: LoadClient, requests: Iterator[pb.EvaluateRequest], runs: dict[pb.NliMode.ValueType, ModeRuns]
) -> None:
    data = [next(requests) for _ in range(ROUND)]
    for mode in MODES:
        for request in data:
            request.options.nli_mode = mode
        result = client.run(EVALUATE, [request.SerializeToString() for request in data], in_flight=IN_FLIGHT)
        runs[mode].seconds.append(result.seconds)
        runs[mode].responses += map(pb.EvaluateResponse.FromString, result.responses)


def decisions(response: pb.EvaluateResponse) -> list[bool]:
    """Lists every hit decision: facts, generated sentences, outline points."""
    facts, flow = response.facts, response.flow
    evidence = [*facts.facts, *facts.sentences, *(point.evidence for point in flow.points)]
    return [pair.hit for pair in evidence]


def changed_share(exact: Sequence[pb.EvaluateResponse], pruned: Sequence[pb.EvaluateResponse]) -> float:
    """Share of the hit decisions that differ, in [0, 1]."""
    pairs = [
        (one, other)
        for response, twin in zip(exact, pruned, strict=True)
        for one, other in zip(decisions(response), decisions(twin), strict=True)
    ]
    return sum(one != other for one, other in pairs) / len(pairs)


def _report(exact: ModeRuns, pruned: ModeRuns) -> Report:
    differences = [abs(one.loss - other.loss) for one, other in zip(exact.responses, pruned.responses, strict=True)]
    speedup = median(slow / fast for slow, fast in zip(exact.seconds, pruned.seconds, strict=True))
    figures: dict[str, Figure] = {
        "data_per_s": exact.per_s,
        "pruned_data_per_s": pruned.per_s,
        "pruned_speedup": speedup,
        "pruned_decision_change": changed_share(exact.responses, pruned.responses),
        "pruned_mean_loss_change": mean(differences),
        "pruned_max_loss_change": max(differences),
        "decisions": sum(len(decisions(response)) for response in exact.responses),
        "data": len(exact.responses),
        "pairs_per_datum": exact.pairs,
        "pruned_pairs_per_datum": pruned.pairs,
    }
    rows = [
        ["exact: all pairs", f"{exact.per_s:.3f}", f"{exact.pairs:.0f}", "1.00", "-", "-"],
        [
            f"pruned: best {pruned.responses[0].applied_options.pruned_top_k} premises",
            *(f"{pruned.per_s:.3f}", f"{pruned.pairs:.0f}", f"{speedup:.2f}"),
            *(f"{figures['pruned_decision_change']:.2%}", f"{max(differences):.4f}"),
        ],
    ]
    columns = ("mode", "data/s", "NLI pairs/datum", "speed-up", "decisions changed", "largest loss change")
    return Report(f"evaluate: {len(exact.responses)} data, {IN_FLIGHT} in flight", columns, rows, figures)
