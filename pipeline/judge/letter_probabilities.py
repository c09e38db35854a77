"""Reads from the log-probabilities of an answer how probable each letter was in its place."""

import math
import re
from collections.abc import Sequence
from itertools import accumulate

from pipeline.llm.chat_model import TokenLogprobs

_AROUND = " \t\n\r\"'`*().:,{}[]<>"


def letter_probabilities(places: Sequence[TokenLogprobs], letters: str, *, key: str = "") -> dict[str, float] | None:
    """Returns the probability of each letter that is among the alternatives where the answer's letter stands.

    Args:
        places: of the answer, token by token.
        letters: those that count.
        key: the answer is JSON, and the letter is the value of this key; empty: it is the first token that is a letter.

    Returns:
        Probabilities that sum to at most 1; None when the place is not found or shows none of the letters.
    """
    place = _place([one.token for one in places], letters, key)
    if place is None:
        return None
    found: dict[str, float] = {}
    for token, logprob in places[place].alternatives:
        letter = token.strip(_AROUND)
        if len(letter) == 1 and letter in letters and math.isfinite(logprob):
            found[letter] = found.get(letter, 0.0) + math.exp(min(logprob, 0.0))
    return found or None


def _place(tokens: Sequence[str], letters: str, key: str) -> int | None:
    if not key:
        return next((at for at, token in enumerate(tokens) if _is_letter(token, letters)), None)
    # The last one: a reasoning model may have written the key into its thoughts.
    matches = list(re.finditer(rf'"{re.escape(key)}"\s*:\s*"', "".join(tokens)))
    ends = accumulate(map(len, tokens))
    return next((at for at, end in enumerate(ends) if end > matches[-1].end()), None) if matches else None


def _is_letter(token: str, letters: str) -> bool:
    stripped = token.strip(_AROUND)
    return len(stripped) == 1 and stripped in letters
