"""Requests for JudgeService, and what of its answers must always be the same."""

from typing import Any

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

SOURCE = (
    "The city of Harlow Falls replaced 9,300 lead service lines between 2017 and June 2023. "
    "The work cost $71 million, which is 12 percent more than the council had planned. "
    "Mayor Anna Reyes said that crews dug up streets in all nine districts. "
    "The auditor does not expect the city to meet the federal deadline of 2027. "
    "The council has approved a second crew, and a third will be voted on in March. "
    "Residents can have their water tested free of charge at the town hall."
)
SUMMARY = (
    "Harlow Falls replaced 9,300 lead service lines between 2017 and June 2023. "
    "The work cost $17 million, and the auditor expects the city to meet the deadline."
)
METRICS = [number for number in pb.JudgeMetricName.values() if number]
FRAMEWORKS = [number for number in pb.JudgeFramework.values() if number]
TWIN_LOCK = pb.JUDGE_FRAMEWORK_TWIN_LOCK


def judge_request(seed: int | None = None, **fields: Any) -> pb.JudgeRequest:  # noqa: ANN401
    """Builds a valid request for everything there is.

    Requests of different seeds share no claim, so that none is answered from a cache.

    Args:
        seed: makes a sentence of both texts.
        fields: of the request, to replace.
    """
    more = "" if seed is None else f" Pump station {seed} was closed for {seed + 2} days after the storm of w{seed}."
    whole = {"frameworks": FRAMEWORKS, "view": common_pb2.RESULT_VIEW_FULL}
    return pb.JudgeRequest(**{"source": SOURCE + more, "summary": SUMMARY + more, **whole, **fields})


def stream_request(request: pb.JudgeRequest) -> pb.JudgeStreamRequest:
    """Asks for the same as a stream."""
    return pb.JudgeStreamRequest.FromString(request.SerializeToString())


def lasting(result: pb.JudgeResult) -> bytes:
    """Gives what of a result must be the same every time, to the last bit: all but times, cache hits and costs."""
    kept = pb.JudgeResult()
    kept.CopyFrom(result)
    kept.ClearField("timings")
    kept.ClearField("is_cached")
    kept.ClearField("truncated_pair_count")
    kept.ClearField("language_model_usage")
    kept.evidence.ClearField("timings")
    return kept.SerializeToString(deterministic=True)
