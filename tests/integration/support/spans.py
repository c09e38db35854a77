"""The spans of a response."""

from google.protobuf.message import Message
from precis.v1 import common_pb2


def spans_of(message: Message) -> list[common_pb2.TextSpan]:
    """Lists all spans of a message, however deep."""
    if isinstance(message, common_pb2.TextSpan):
        return [message]
    children = [
        child
        for field, value in message.ListFields()
        if field.message_type is not None
        for child in (value if field.is_repeated else [value])
    ]
    return [span for child in children for span in spans_of(child)]
