"""Whether a text is one that can be worked on."""

from pipeline.errors import InvalidInputError


def check_text(field: str, text: str, max_chars: int, *, may_be_blank: bool = False) -> None:
    """Checks length, blankness and encoding, in this order.

    Args:
        field: path of the text in the request.
        max_chars: longest text, in code points.

    Raises:
        InvalidInputError: the text is too long, blank, or holds half a surrogate pair, which no UTF-8 can carry.
    """
    if len(text) > max_chars:
        raise InvalidInputError(field, f"at most {max_chars} characters", f"{len(text)} characters")
    if not may_be_blank and not text.strip():
        raise InvalidInputError(field, "a text", "only white space")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInputError(field, "valid Unicode", f"a lone surrogate at character {error.start}") from error
