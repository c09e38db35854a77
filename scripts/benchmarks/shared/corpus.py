"""Texts to measure with: excerpts of real prose in a realistic mix of lengths, no two alike.

Distinct texts keep the server's result cache and de-duplication out of the measurement.
"""

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist

from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parents[3]
DEFAULT_DATA = ROOT.parent / "shared" / "data"
BUNDLED = ROOT / "scripts" / "data" / "quickstart.json"
MANUAL = Path("docs") / "debian-administrators-handbook.txt"
MAX_CHARS = 600_000  # of the source; more adds nothing but start-up time

# Log-normal fit of tokens per sentence in mixed prose: 10th percentile 14, median 32, 99th percentile 161.
MEDIAN_TOKENS = 32
LOG_SIGMA = 0.67
MIN_TOKENS, MAX_TOKENS = 6, 250
PREMISE_SHARE = 0.6  # of a pair's tokens: premises are the longer side


def source_text(data: Path, max_chars: int = MAX_CHARS) -> str:
    """Returns the prose that excerpts are cut from: a manual when the data folder has one, else the bundled text."""
    manual = data / MANUAL
    if manual.is_file():
        return manual.read_text(encoding="utf-8")[:max_chars]
    return "\n".join(strings_of(json.loads(BUNDLED.read_text(encoding="utf-8"))))


def strings_of(value: object) -> list[str]:
    """Collects every string inside a JSON value, in order."""
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for child in children for text in strings_of(child)]


class Corpus:
    """Cuts excerpts of chosen token counts out of one text.

    The same seed gives the same sequence of texts; within one corpus no text comes twice.
    """

    def __init__(self, text: str, tokenizer: Tokenizer, seed: int) -> None:
        """Tokenizes the whole source once, so that an excerpt is two offsets."""
        whole = Tokenizer.from_str(tokenizer.to_str())
        whole.no_truncation()
        self._text = text
        self._offsets = whole.encode(text, add_special_tokens=False).offsets
        self._special_tokens = [tokenizer.num_special_tokens_to_add(is_pair=is_pair) for is_pair in (False, True)]
        self._random = random.Random(seed)
        self._seen: set[str] = set()

    def texts(self, count: int) -> list[str]:
        """Returns `count` single texts."""
        special = self._special_tokens[False]
        return [self._fresh(max(1, length - special)) for length in self._lengths(count)]

    def pairs(self, count: int) -> list[tuple[str, str]]:
        """Returns `count` pairs whose two sides together have the mix's length."""
        pairs = []
        for length in self._lengths(count):
            words = length - self._special_tokens[True]
            premise = max(1, round(words * PREMISE_SHARE))
            pairs.append((self._fresh(premise), self._excerpt(max(1, words - premise))))
        return pairs

    def _lengths(self, count: int) -> Iterator[int]:
        """Yields token counts, special tokens included: one from each of `count` equal slices of the mix, shuffled.

        Slices make every draw the same mix; independent draws of 200 lengths would differ by 5% in their sum.
        """
        normal = NormalDist(math.log(MEDIAN_TOKENS), LOG_SIGMA)
        slices = self._random.sample(range(count), count)
        for position in slices:
            share = (position + self._random.uniform(0.05, 0.95)) / count  # never 0 or 1, which have no quantile
            yield round(min(max(math.exp(normal.inv_cdf(share)), MIN_TOKENS), MAX_TOKENS))

    def _fresh(self, tokens: int) -> str:
        while (text := self._excerpt(tokens)) in self._seen:
            tokens += 1  # a short text has few variants; a longer one always differs
        self._seen.add(text)
        return text

    def _excerpt(self, tokens: int) -> str:
        first = self._random.randrange(max(1, len(self._offsets) - tokens))
        last = min(first + tokens, len(self._offsets)) - 1
        text = self._text[self._offsets[first][0] : self._offsets[last][1]]
        return " ".join(text.split()) or self._excerpt(tokens)
