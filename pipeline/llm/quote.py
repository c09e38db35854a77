"""Quotes what an endpoint said, unless it said what nobody else may read."""

import re
from collections.abc import Iterable

from pydantic import SecretStr

_MAX_CHARS = 240
_ENCODED = re.compile(r"[A-Za-z0-9+/]{64}")  # no word of any language: base64 of a picture
_STRETCH = 16  # so many characters of the caller's text, side by side, are a quotation of it


def safe_quote(words: str, *, key: SecretStr | None, private_texts: Iterable[str]) -> str:
    """Returns the endpoint's words on one line, cut; empty if they repeat the key or some of the private texts.

    Endpoints do repeat: a validation error often holds the whole request, a refused key comes back half masked.
    """
    line = " ".join(words.split())[:_MAX_CHARS]
    secret = key.get_secret_value() if key is not None else ""
    if secret and any(part in line for part in (secret[:6], secret[-6:])):
        return ""
    if _ENCODED.search(line):
        return ""
    texts = [" ".join(text.split()) for text in private_texts]
    stretches = {line[start : start + _STRETCH] for start in range(max(1, len(line) - _STRETCH + 1))}
    if any(stretch in text for stretch in stretches for text in texts if len(stretch) == _STRETCH):
        return ""
    return line
