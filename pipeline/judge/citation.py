"""Quotes evidence and counts things, in the words of a reason."""

from collections.abc import Iterable, Sequence

from pipeline.reading.passage import TextSpan

MAX_QUOTE_CHARS = 90


def cite(passage: TextSpan) -> str:
    """Returns a short quote with its place: `"Profits rose" (source 120-132)`."""
    return f'"{_shorten(passage.text)}" ({passage.text_id} {passage.start}-{passage.end})'


def cite_first(passages: Sequence[TextSpan], most: int = 2) -> str:
    """Cites the first few passages, and says how many more there are."""
    cited = "; ".join(cite(passage) for passage in passages[:most])
    more = len(passages) - most
    return f"{cited}; and {more} more" if more > 0 else cited


def count(number: int, noun: str) -> str:
    """Returns "1 claim", "2 claims"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def sentences(parts: Iterable[str]) -> str:
    """Joins the sentences that are not empty."""
    return " ".join(part for part in parts if part)


def _shorten(text: str) -> str:
    if len(text) <= MAX_QUOTE_CHARS:
        return text
    cut = text[: MAX_QUOTE_CHARS - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut) + "…"
