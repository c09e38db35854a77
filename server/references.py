"""What results refer to: places in the caller's texts, and models."""

from typing import overload

from precis.v1 import common_pb2

from pipeline.protocols import ModelIdentity
from pipeline.text.passage import Passage


def to_model_identity(identity: ModelIdentity) -> common_pb2.ModelIdentity:
    """Gives which model wrote a number."""
    return common_pb2.ModelIdentity(name=identity.name, revision=identity.revision, sha256=identity.sha256)


@overload
def to_span(passage: Passage) -> common_pb2.TextSpan: ...
@overload
def to_span(passage: Passage | None) -> common_pb2.TextSpan | None: ...
def to_span(passage: Passage | None) -> common_pb2.TextSpan | None:
    """Gives a stretch of the caller's text; nothing for nothing, which leaves a message field unset."""
    if passage is None:
        return None
    return common_pb2.TextSpan(text_id=passage.text_id, start=passage.start, end=passage.end, text=passage.quote)
