"""Requests as they are sent: with everything that they left to the defaults of the day on which they were recorded.

Then a response held all that was computed, and all three frameworks judged. Fields go by number, as everywhere here.
"""

from collections.abc import Mapping

from google.protobuf.message import DecodeError, Message

from tests.golden.case import Case, message_class, to_bytes

FULL, ALL_FRAMEWORKS = 3, (1, 2, 3)
VIEWS: Mapping[str, int] = {
    "precis.v1.JudgeRequest": 7,
    "precis.v1.JudgeStreamRequest": 7,
    "precis.v1.EvaluateRequest": 5,
}
FRAMEWORKS: Mapping[str, int] = {"precis.v1.JudgeRequest": 3, "precis.v1.JudgeStreamRequest": 3}
INSIDE: Mapping[str, int] = {"precis.v1.EvaluateStreamRequest": 2, "precis.v1.JudgeBatchRequest": 2}


def normalised(case: Case, request: bytes) -> bytes:
    """Sets the view and the frameworks of a request that sets none. Bytes that are no message stay as they are."""
    kind = message_class(case.method.input_type.full_name)
    if kind.DESCRIPTOR.full_name not in {*VIEWS, *INSIDE}:
        return request
    try:
        message = kind.FromString(request)
    except DecodeError:
        return request
    _spell_out(message)
    return to_bytes(message)


def _spell_out(message: Message) -> None:
    kind = message.DESCRIPTOR
    for number in _numbers(INSIDE, kind.full_name):
        field = kind.fields_by_number[number].name
        if message.HasField(field):
            _spell_out(getattr(message, field))
    for number in _numbers(VIEWS, kind.full_name):
        field = kind.fields_by_number[number].name
        setattr(message, field, getattr(message, field) or FULL)
    for number in _numbers(FRAMEWORKS, kind.full_name):
        frameworks = getattr(message, kind.fields_by_number[number].name)
        frameworks.extend(() if frameworks else ALL_FRAMEWORKS)


def _numbers(fields: Mapping[str, int], name: str) -> list[int]:
    return [fields[name]] if name in fields else []
