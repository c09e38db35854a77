"""Raised text: a power, which changes the number, or a note mark, which is left out."""

import re
from itertools import takewhile

_POWER = re.compile(r"[-+\u2212]?(?:\d{1,3}|[A-Za-z])")
_BASES = frozenset({"10", "2", "cm", "dm", "km", "mm", "ft", "yd"})  # and a letter: "x", "m"
_ORDINAL = frozenset({"st", "nd", "rd", "th", "er", "e", "re", "o", "a", "TM"})


def raised(before: str, text: str) -> str:
    """Returns what to write for raised text behind other text.

    "^6" behind "10 cells are 10", "^2" behind "5 m", "th" behind "20"; nothing behind "Fees rose", "in 2021" or "it.".
    """
    base = "".join(takewhile(str.isalnum, reversed(before)))[::-1]
    if _POWER.fullmatch(text) and (base in _BASES or (len(base) == 1 and base.isalpha())):
        return f"^{text}"
    return text if text in _ORDINAL and before[-1:].isdigit() else ""
