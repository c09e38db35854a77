"""What the language model cost, in words."""

from collections.abc import Iterable

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb


def cost_of(results: Iterable[pb.JudgeResult]) -> str:
    """Says what the language model cost for all of these results; empty when that was nothing."""
    total = common_pb2.LlmUsage()
    for result in results:
        add(total, result.language_model_usage)
    return in_words(total)


def add(total: common_pb2.LlmUsage, more: common_pb2.LlmUsage) -> None:
    """Adds to a total."""
    total.calls += more.calls
    total.prompt_tokens += more.prompt_tokens
    total.completion_tokens += more.completion_tokens
    total.retries += more.retries


def in_words(usage: common_pb2.LlmUsage) -> str:
    """Gives for example "14 calls of the language model, 21,300 tokens read, 840 written, 2 retries"."""
    if not usage.calls and not usage.retries:
        return ""
    calls = "1 call" if usage.calls == 1 else f"{usage.calls:,} calls"
    tokens = f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written"
    retries = {0: "", 1: ", 1 retry"}.get(usage.retries, f", {usage.retries:,} retries")
    return f"{calls} of the language model, {tokens}{retries}"
