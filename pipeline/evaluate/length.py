"""Length: a gentle penalty for missing the target; 10% off costs 0.095 of this component."""

from math import log1p

from pipeline.evaluate.compression import get_target_summary_length
from pipeline.evaluate.result import LengthResult


def score_length(
    generated_tokens: int, input_tokens: int, *, declared_input_tokens: int, tokenizer_name: str
) -> LengthResult:
    """Compares the summary's length with the target for its source.

    Args:
        generated_tokens: counted by the tokenizer.
        input_tokens: of the source, counted by the same tokenizer; 0 (a source of control characters) counts as 1.
        declared_input_tokens: what the datum says; reported, not used.
        tokenizer_name: reported.
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
