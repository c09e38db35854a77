"""Puts together what a tokenizer took apart: "235, 000", "31. 8 per cent", "71 - year - old", "U. S.".

Texts of corpora and of extraction tools often come like this. Sentences would end inside a number, and "1, 600" and
"1,600" would be two numbers. Only texts that show signs of it are touched; positions still lead back to what was sent.
"""

import re
from itertools import pairwise

import numpy as np

from pipeline.text.normalize import NormalizedText, OffsetMap, nfkc, normalize_decoded

_SIGNS = re.compile(
    r"""
    \w[ ]-[ ]\w+[ ]-[ ]\w          # 71 - year - old
    |\([ ]\w[^()\n]{0,80}\w[ ]\)   # ( left )
    |\w[ ][,.;][ ]\w               # He left , and
    |\w[ ]'[ ]?s[ ]|\w[ ]n't[ ]     # Ann 's, did n't
    |(?<![\d,])\d{1,3},[ ]000\b    # 235, 000
    |(?<!\S)`{1,2}[ ]?\w[^`\n]{0,200}'   # `quoted'
    |\d\.[ ]\d+[ ](?:[mb]illion|per[ ]?cent|percent|miles|points)\b   # 31. 8 per cent
    |\b(?:\d+|pre|post|non|self|ex|co|half|well|anti|multi|mid|two|three)[ ]-[ ]\w
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Each match is white space that goes.
_COUNTED = (
    r"(?:year|month|week|day|hour|minute|second|mile|metre|meter|foot|inch|man|woman|member|point|goal|time|page|"
    r"bedroom|seat|storey|story|strong|match|game|run|piece|star|word)s?\b"
)
_GAPS = re.compile(
    rf"""
    (?<=\d,)[ ](?=\d{{3}}(?!\d))                  # 1, 600
    |(?<=\d\.)[ ](?=\d)                         # 31. 8
    |(?<=\b[A-Za-z]\.)[ ](?=[A-Za-z]\.)         # U. S.
    |(?<=\d)[ ](?=-[ ](?:\d|{_COUNTED}))|(?<=\d[ ]-)[ ](?=\d|{_COUNTED})   # 2 - 0, 71 - year
    |(?<=\byear)[ ](?=-[ ]old)|(?<=\byear[ ]-)[ ](?=old)
    |(?<=\bnon)[ ](?=-[ ]\w)|(?<=\bnon[ ]-)[ ](?=\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def read_respaced(text_id: str, original: str) -> NormalizedText:
    """Normalises a text, with numbers, ages and abbreviations put together. Linear in its length."""
    text, offsets = nfkc(original)
    gaps = [match.start() for match in _GAPS.finditer(text)] if _SIGNS.search(text) else []
    if not gaps:
        return NormalizedText(text_id, original, text, offsets)
    kept = np.delete(np.arange(len(text), dtype=np.int32), gaps)
    bounds = [-1, *gaps, len(text)]
    respaced = "".join(text[start + 1 : end] for start, end in pairwise(bounds))
    return normalize_decoded(text_id, original, respaced, offsets.then(OffsetMap(kept, kept + 1)))
