"""Counts what happens to the requests of the Open Inference Protocol, for its statistics."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from precis.oip import open_inference_pb2 as pb

from server.oip.inferences import InferenceOutcome
from server.oip.signatures import VERSION

MEASURED = ("nli", "embed")  # what the engine computes itself


@dataclass(slots=True)
class ModelRecord:
    """What happened to the requests for one model since the start; times in seconds."""

    success_count: int = 0
    success_s: float = 0.0
    fail_count: int = 0
    fail_s: float = 0.0
    queue_s: float = 0.0
    compute_s: float = 0.0
    row_count: int = 0
    cache_hit_count: int = 0
    last_ms: int = 0

    def count(self, row_count: int, outcome: InferenceOutcome) -> None:
        """Adds what an answer took."""
        self.row_count += row_count
        self.queue_s += outcome.queue_s
        self.compute_s += outcome.compute_s
        self.cache_hit_count += outcome.cache_hit_count

    def to_message(self, name: str, execution_count: int) -> pb.ModelStatistics:
        """Converts it to the protocol's statistics."""
        answered, is_measured = self.success_count, name in MEASURED
        return pb.ModelStatistics(
            name=name,
            version=VERSION,
            last_inference=self.last_ms,
            inference_count=self.row_count,
            execution_count=execution_count,
            inference_stats=pb.InferStatistics(
                success=_duration(answered, self.success_s),
                fail=_duration(self.fail_count, self.fail_s),
                queue=_duration(answered, self.queue_s) if is_measured else None,
                compute_infer=_duration(answered, self.compute_s) if is_measured else None,
                cache_hit=_duration(self.cache_hit_count, 0.0) if is_measured else None,
            ),
        )


@contextmanager
def counted(record: ModelRecord) -> Iterator[ModelRecord]:
    """Counts one request, however it ends."""
    started_s = time.monotonic()
    record.last_ms = time.time_ns() // 1_000_000
    try:
        yield record
    except BaseException:
        record.fail_count += 1
        record.fail_s += time.monotonic() - started_s
        raise
    record.success_count += 1
    record.success_s += time.monotonic() - started_s


def _duration(count: int, seconds: float) -> pb.StatisticDuration:
    return pb.StatisticDuration(count=count, ns=round(seconds * 1e9))
