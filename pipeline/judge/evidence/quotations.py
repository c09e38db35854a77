"""Which parts of a text are someone else's words."""

import re

_QUOTATION = re.compile(r'"[^"\n]{1,600}"|“[^”\n]{1,600}”|«[^»\n]{1,600}»|„[^“”\n]{1,600}[“”]|「[^」\n]{1,600}」')


def quotations(text: str) -> list[tuple[int, int]]:
    """Returns start and end of everything in quotation marks. Linear in the length of the text."""
    return [match.span() for match in _QUOTATION.finditer(text)]


def without_quotations(text: str) -> str:
    """Returns a text with spaces in place of what others say."""
    return _QUOTATION.sub(" ", text)
