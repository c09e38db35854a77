"""What a scripted endpoint replies to the judge's prompts."""

import json
from collections.abc import Mapping, Sequence

from tests.scripted_endpoint.replies import Reply

ABOUT_SOURCE, ABOUT_CLAIMS = "Statements of an article", "Write .* questions about these statements"
FROM_SUMMARY, FROM_SOURCE = r"The text:\n<data-\w+>\nThe summary", r"The text:\n"
WANTS_QUOTES = "that decided"
BEST_FIRST, WORST_FIRST = "\nA: (every|meaning|neutral)", "\nE: (every|meaning|neutral)"


def questions(*triples: tuple[int, str, str], key_points: Sequence[int] | None = None) -> str:
    """A reply with questions: id of the statement, question, answer."""
    listed = [{"id": number, "question": question, "answer": answer} for number, question, answer in triples]
    points = {} if key_points is None else {"key_points": list(key_points)}
    return json.dumps({**points, "questions": listed})


def answers(*quotes: str | None) -> str:
    """A reply with an answer for each question."""
    return json.dumps({"answers": [{"question": number, "quote": one} for number, one in enumerate(quotes, start=1)]})


def grade(level: str, quotes: Sequence[str] = (), reason: str = "The claims stand in the article.") -> str:
    """A reply with a level, a reason and quotes."""
    return json.dumps({"level": level, "reason": reason, "quotes": list(quotes)})


def letter(level: str) -> str:
    """A reply with a level alone."""
    return json.dumps({"level": level})


def grades(
    best_first: tuple[str, Mapping[str, float]],
    worst_first: tuple[str, Mapping[str, float]],
    quotes: Sequence[str] = (),
) -> tuple[Reply, ...]:
    """Replies to both orders of the letters: the letter, and its probabilities."""
    return (
        Reply(WANTS_QUOTES, grade(best_first[0], quotes), best_first[1]),
        Reply(BEST_FIRST, letter(best_first[0]), best_first[1]),
        Reply(WORST_FIRST, letter(worst_first[0]), worst_first[1]),
    )
