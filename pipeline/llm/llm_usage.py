"""What answers of a language model cost the request that asked for them."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """A sum over calls.

    Attributes:
        calls: answers, repairs and those that turned out to be unusable included.
        prompt_tokens: of those answers, as the endpoint counted them, else our estimate.
        completion_tokens: likewise.
        retries: requests that were made again because the endpoint was busy, failed, or sent no completion.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retries: int = 0

    def __add__(self, other: Self) -> "LlmUsage":
        return LlmUsage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.retries + other.retries,
        )
