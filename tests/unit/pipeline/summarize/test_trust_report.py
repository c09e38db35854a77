"""Where a reader is sent by a warning."""

import pytest

from pipeline.summarize.document import SourceChunk
from pipeline.summarize.storage.records import StepOutput
from pipeline.summarize.trust_report import place_of

CHUNKS = [
    SourceChunk(0, 0, "The pump moves water."),
    SourceChunk(1, 0, "## 2 Operation\n\nStart it slowly.\n\n## 3 Service\n\nGrease it."),
    SourceChunk(4, 0, "Close the valve " * 20),
]


@pytest.mark.parametrize(
    ("indexes", "pages", "place"),
    [
        ((0, 4), (2, 5), "pages 2 to 5"),
        ((0, 0), (3, 3), "page 3"),
        ((1, 4), (0, 0), "under “2 Operation”"),
        ((4, 4), (0, 0), "under “3 Service”"),
        ((0, 1), (0, 0), "from “The pump moves water. …” on"),
    ],
)
def test_a_place_is_a_page_a_heading_or_a_sentence(
    *, indexes: tuple[int, int], pages: tuple[int, int], place: str
) -> None:
    assert place_of(StepOutput(0, "", 0, indexes, pages), CHUNKS) == place
