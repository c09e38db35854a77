"""Raised text: a power, which changes the number, or a note mark, which is left out."""

import re

_POWER = re.compile(r"[-+\u2212]?(?:\d{1,3}|[A-Za-z])")
_BASE = re.compile(r"(?<![\w.,])(?:\d*[.,]?\d*\s?[\u00b7\u00d7x*]\s?)?(?:10|2|[A-Za-z\u00b5\u03a9]|[cdkm]m|ft|yd)$")
_ORDINAL = frozenset({"st", "nd", "rd", "th", "er", "e", "re", "o", "a", "TM"})


def raised(before: str, text: str) -> str:
    """Returns what to write for raised text behind other text.

    "^6" behind "10 cells are 10", "^2" behind "5 m", "th" behind "20"; nothing behind "Fees rose", "in 2021" or "it.".
    """
    if _POWER.fullmatch(text) and _BASE.search(before[-40:]):
        return f"^{text}"
    return text if text in _ORDINAL and before[-1:].isdigit() else ""
