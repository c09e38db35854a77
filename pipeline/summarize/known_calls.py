"""Incremental summaries: calls begin where calls of earlier summaries began.

The answer to an equal call is stored, so that an edit of a document costs the calls around it and the merges above,
wherever the edit moves what follows. The beginning of a call is known by the hashes of its first text and of the next
one, and by nothing else: no name, number or page of a document. Two, since a page may come again and again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from pipeline.summarize.config import SummarizeConfig
from pipeline.summarize.document import SummarizeOptions


def answer_scope(owner: str, writer: str) -> str:
    """Returns whose answers may be used again: those of a writer to an owner."""
    return f"{owner}\n{writer}" if owner else writer


def call_scope(scope: str, config: SummarizeConfig, options: SummarizeOptions) -> str:
    """Returns what calls must have in common, besides their texts, for one to be known by the other.

    Args:
        scope: whose answers they are.
    """
    return f"{scope}\n{options.model_dump_json()}\n{config.result_settings()}"


def hash_text(text: str) -> bytes:
    """Returns the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def begin_keys(scope: str, hashes: Sequence[bytes]) -> list[str]:
    """Returns for every text of a row the key of a call that begins with it.

    Args:
        scope: everything besides the texts that a call depends on; calls of another scope are unknown.
    """
    pairs = pairwise([*hashes, b""])
    return [hashlib.sha256(scope.encode() + b"\n" + first + second).hexdigest() for first, second in pairs]


def to_cuts(lengths: Iterable[int]) -> list[range]:
    """Returns neighbouring stretches of the given lengths, from 0 on."""
    return [range(start, end) for start, end in pairwise(accumulate(lengths, initial=0))]
