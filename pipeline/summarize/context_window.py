"""What a batch sees of what stands before it: newest first until the limit, then back in the order of the document."""

from collections.abc import Callable, Sequence

from pipeline.summarize.splitting import tail_by_tokens


def fit_context(texts: Sequence[str], limit_tokens: int, count_tokens: Callable[[str], int]) -> tuple[str, ...]:
    """Returns the newest texts that fit together; of the first that does not, its end.

    Args:
        texts: oldest first.
        limit_tokens: for all of them.
        count_tokens: of a text.
    """
    kept: list[str] = []
    left = limit_tokens
    for text in reversed(texts):
        fitting = tail_by_tokens(text, left, count_tokens)
        if fitting.strip():
            kept.append(fitting)
        if fitting != text:
            break
        left -= count_tokens(text)
    return tuple(reversed(kept))
