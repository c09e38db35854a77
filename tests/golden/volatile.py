"""What of an answer differs from run to run, and how it is taken out."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

VOLATILE: Mapping[tuple[str, int], str] = {
    ("precis.v1.EvaluateResponse", 9): "timings",
    ("precis.v1.EvaluateResponse", 12): "rules",  # any edit changes them; the file says of which rules its answers are
    ("precis.v1.JudgeResult", 18): "rules",
    ("precis.v1.Synthesis", 17): "rules",
    ("precis.v1.EvidenceTable", 20): "timings",
    ("precis.v1.JudgeResult", 5): "timings",
    ("precis.v1.JudgeResult", 7): "request_hash",  # of the settings too, with names that change and the endpoint's port
    ("precis.v1.JudgeResult", 8): "is_cached",
    ("precis.v1.EmbedResponse", 3): "timings",
    ("precis.v1.Model", 8): "execution_provider",  # names what this CPU has
    ("precis.v1.EntailResponse", 3): "timings",
    ("precis.v1.Assessment", 6): "elapsed",
    ("precis.v1.SummaryAccepted", 1): "summary_id",
    ("precis.v1.SummaryProgress", 7): "elapsed",
    ("precis.v1.SummaryProgress", 8): "eta",
    ("precis.v1.Summary", 1): "summary_id",
    ("precis.v1.Summary", 18): "elapsed",
    ("precis.v1.Summary", 31): "total_elapsed",
    ("google.rpc.ErrorInfo", 3): "metadata",  # the call's id
    ("google.rpc.RequestInfo", 1): "request_id",
}
"""Fields by message and number, which stays when the name changes; the name they had is for readers."""

ENDPOINT = "http://endpoint/v1"


def clear_volatile(message: Message, endpoint_url: str) -> None:
    """Clears the fields above, and puts the same address everywhere for that of the language model."""
    for field, value in message.ListFields():
        if (message.DESCRIPTOR.full_name, field.number) in VOLATILE:
            message.ClearField(field.name)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in parts_of(field, value):
                clear_volatile(part, endpoint_url)
        elif field.type == FieldDescriptor.TYPE_STRING:
            _replace(message, field, endpoint_url)


def parts_of(field: FieldDescriptor, value: Any) -> list[Message]:  # noqa: ANN401 - what a field holds
    """Lists the messages in a field; of a map none, for the messages here have maps of plain values only."""
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return []
    return list(value) if field.is_repeated else [value]


def _replace(message: Message, field: FieldDescriptor, endpoint_url: str) -> None:
    value = getattr(message, field.name)
    if field.is_repeated:
        value[:] = [one.replace(endpoint_url, ENDPOINT) for one in value]
    else:
        setattr(message, field.name, value.replace(endpoint_url, ENDPOINT))
