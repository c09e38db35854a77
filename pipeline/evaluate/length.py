"""Length: how long should a summary be, and what does missing that target cost (README, Length)?

The target follows from the length of what is summarized. The penalty is gentle: 10% off costs 0.095 of this component.
"""

from dataclasses import dataclass
from math import log1p

from pipeline.evaluate.result import LengthResult


def score_length(
    generated_tokens: int, input_tokens: int, *, declared_input_tokens: int, tokenizer_name: str
) -> LengthResult:
    """Compares the summary's length with the target for its source.

    The source is counted by the same tokenizer; 0 tokens, of control characters, count as 1. What the datum declares is
    reported and not used.
    """
    schedule_tokens = get_target_summary_length(input_tokens)
    target_tokens = min(schedule_tokens, max(input_tokens, 1))
    deviation = abs(generated_tokens - target_tokens) / target_tokens
    return LengthResult(
        score=1 - min(1.0, log1p(deviation)),
        deviation=deviation,
        generated_tokens=generated_tokens,
        input_tokens=input_tokens,
        declared_input_tokens=declared_input_tokens,
        schedule_tokens=schedule_tokens,
        target_tokens=target_tokens,
        target_lowered_to_input=target_tokens < schedule_tokens,
        tokenizer=tokenizer_name,
    )


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
    """Returns the target in tokens. May exceed `input_tokens`: the length component lowers it then."""
    for tier in COMPRESSION_SCHEDULE:
        if input_tokens <= tier.max_input:
            return max(tier.min_tokens, min(int(input_tokens * tier.ratio), tier.max_tokens))
    return GLOBAL_MAX_TOKENS
