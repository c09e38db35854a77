"""What a language model cost, as a message."""

from precis.v1 import common_pb2

from pipeline.llm.chat_model import LlmUsage


def to_usage(usage: LlmUsage, identity: str) -> common_pb2.LlmUsage | None:
    """Gives what the language model's answers cost; None, which leaves the field unset, when that is nothing."""
    if usage == LlmUsage():
        return None
    return common_pb2.LlmUsage(
        identity=identity,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        retries=usage.retries,
    )
