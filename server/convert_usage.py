"""What a language model cost, as a message."""

from precis.v1 import fusion_pb2

from pipeline.llm.llm_usage import LlmUsage


def to_usage(usage: LlmUsage, identity: str) -> fusion_pb2.LanguageModelUsage | None:
    """Gives what the language model's answers cost; None, which leaves the field unset, when that is nothing."""
    if usage == LlmUsage():
        return None
    return fusion_pb2.LanguageModelUsage(
        identity=identity,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        retries=usage.retries,
    )
