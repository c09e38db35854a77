"""Sets the length that a document's summary shall have, and counts texts in its unit."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pipeline.errors import InvalidInputError
from pipeline.reading.compression import get_target_summary_length
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.extractive.source_blocks import count_words
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, SummaryDetail


def counter(shape: Shape, count_tokens: Callable[[str], int]) -> Callable[[str], int]:
    """Returns what counts a text in the unit of a shape's goal; tokens without one."""
    is_words = shape.goal is not None and shape.goal.unit is LengthUnit.WORDS
    return count_words if is_words else count_tokens


@dataclass(frozen=True, slots=True)
class DocumentSize:
    """How long a document is."""

    tokens: int
    words: int

    def share(self, goal: LengthGoal) -> float:
        """Returns a length as a share of the document's."""
        return min(1.0, goal.amount / max(1, self.words if goal.unit is LengthUnit.WORDS else self.tokens))


def measure_document(tokens: int, texts: Iterable[str]) -> DocumentSize:
    """Returns the size of a document whose tokens were counted already."""
    return DocumentSize(tokens, sum(map(count_words, texts)))


def set_goal(
    options: SummarizeOptions, default: SummaryDetail, size: DocumentSize, most_tokens: int
) -> LengthGoal | None:
    """Returns the length that a document's summary shall have; None for all that the writer has room for.

    Args:
        default: counts where the caller sets no length.
        most_tokens: the longest text that the writer can write.

    Raises:
        InvalidInputError: the writer cannot write so much.
    """
    if options.target_words is not None:
        most = int(most_tokens * size.words / max(1, size.tokens))
        _refuse_above(most, options.target_words, "options.target_words")
        return LengthGoal(max(1, min(options.target_words, size.words)), LengthUnit.WORDS)
    if options.target_tokens is not None:
        _refuse_above(most_tokens, options.target_tokens, "options.target_tokens")
        return LengthGoal(max(1, min(options.target_tokens, size.tokens)), LengthUnit.TOKENS)
    if options.target_share is not None:
        amount = max(1, round(options.target_share * size.tokens))
        if amount > most_tokens:
            most_share = f"at most {most_tokens / size.tokens:.3f}, which is {most_tokens} tokens"
            raise InvalidInputError("options.target_share", most_share, f"{options.target_share}")
        return LengthGoal(amount, LengthUnit.TOKENS)
    scheduled = get_target_summary_length(size.tokens)
    if (options.detail or default) is SummaryDetail.FULL or scheduled >= size.tokens:
        return None
    return LengthGoal(min(scheduled, most_tokens), LengthUnit.TOKENS)


def _refuse_above(most: int, amount: int, field: str) -> None:
    if amount > most:
        raise InvalidInputError(field, f"at most {most}, which this writer can write at once", str(amount))
