"""The compression schedule: how long the summary of a text should be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompressionTier:
    """Inputs of up to `max_input` tokens become `ratio` of their length, within min and max."""

    max_input: int
    ratio: float
    min_tokens: int
    max_tokens: int


COMPRESSION_SCHEDULE = (
    CompressionTier(max_input=2_000, ratio=0.15, min_tokens=300, max_tokens=400),
    CompressionTier(max_input=10_000, ratio=0.10, min_tokens=400, max_tokens=1_000),
    CompressionTier(max_input=40_000, ratio=0.05, min_tokens=1_000, max_tokens=2_000),
)
GLOBAL_MAX_TOKENS = 2_500
"""Target for inputs beyond the last tier."""


def get_target_summary_length(input_tokens: int) -> int:
    """Returns the target in tokens. May exceed `input_tokens`: callers lower it then."""
    for tier in COMPRESSION_SCHEDULE:
        if input_tokens <= tier.max_input:
            return max(tier.min_tokens, min(int(input_tokens * tier.ratio), tier.max_tokens))
    return GLOBAL_MAX_TOKENS
