"""Requests for EvaluateService in the words that the tiny models know."""

from google.protobuf.message import Message
from precis.v1 import evaluate_pb2 as pb

FACT_COUNT = 10
SUMMARY = "W1 w2 w3 w4 . W5 w6 w7 w8 . W9 w10 w11 w12 ."


def evaluate_request(seed: int = 0, **changes: object) -> pb.EvaluateRequest:
    """Builds a valid request. Requests of different seeds share no NLI pair, so that none is answered from the cache.

    Args:
        seed: makes the words of the generated summary.
        changes: fields to replace, by dotted path with __ for the dot, for example `datum__entry__text`.
    """
    request = pb.EvaluateRequest(
        datum=pb.GoldStandardDatum(
            entry=pb.GoldStandardEntry(
                category="Test", source_id="1", text=f"{SUMMARY} W20 w21 w22 w23 .", token_count=20
            ),
            summary=pb.GoldStandardSummary(
                main_theme="W1 w2 w3 .",
                summary=SUMMARY,
                key_facts=[f"W{number} w{number + 1} w{number + 2} ." for number in range(30, 30 + FACT_COUNT)],
                logical_outline=["W1 w2 .", "W5 w6 .", "W9 w10 ."],
                entity_list=["w3 w4", "w199"],
            ),
        ),
        generated=pb.GeneratedSummary(text=f"W1 w2 w3 w4 . W5 w6 w{seed % 200} w{seed // 200} .", finish_reason="stop"),
    )
    for path, value in changes.items():
        change(request, path.split("__"), value)
    return request


def change(message: Message, path: list[str], value: object) -> None:
    """Replaces one field; a list replaces a repeated field."""
    *parents, name = path
    for parent in parents:
        message = getattr(message, parent)
    if isinstance(value, list):
        del getattr(message, name)[:]
        getattr(message, name).extend(value)
    else:
        setattr(message, name, value)
