"""Reading a source ends soon after its caller has left, whatever it is made of."""

import sys
from types import FrameType
from typing import Any

import pytest

from pipeline.judge.evidence.plan import ReadSource
from pipeline.off_loop import stop_if_nobody_waits

CHARS = 30_000
MOST_LINES = 90_000  # between two looks; one pass over all words or sentences without a look takes more
PATTERNS = {
    "sentences": "The pump runs at 7 bar. ",
    "han": "\u4e2d\u3002",
    "ellipses": "a... ",
    "dates": "May 3, 2020 ",
    "table": "|a|b|\n|-|-|\n",
    "turns": "Ann: Yes. No.\n",
}


class Looks:
    """Counts the lines that run between two looks at whether somebody waits."""

    def __init__(self) -> None:
        self.lines = self.most = 0

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401 - as sys.settrace wants it
        """Is called for each line."""
        if frame.f_code is stop_if_nobody_waits.__code__:
            self.lines = 0
        elif "nupunkt" in frame.f_code.co_filename:
            return None  # asked for a part of the text at a time
        elif event == "line":
            self.lines += 1
            self.most = max(self.most, self.lines)
        return self.trace


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_reading_looks_often_whether_somebody_waits(pattern: str) -> None:
    looks, before = Looks(), sys.gettrace()
    sys.settrace(looks.trace)
    try:
        ReadSource(pattern * (CHARS // len(pattern)))
    finally:
        sys.settrace(before)
    assert looks.most < MOST_LINES
