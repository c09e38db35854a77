"""Where a reader is sent by a warning."""

import pytest

from pipeline.summarize.document import SourceChunk
from pipeline.summarize.gate.findings import Trust
from pipeline.summarize.storage.records import StepOutput
from pipeline.summarize.trust_report import place_of, trust_warnings

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


def test_no_place_is_looked_for_where_nothing_was_found() -> None:
    """A hundred chunks without a heading, read for each answer, took longer than all else."""
    assert list(trust_warnings(Trust(), pytest.fail)) == []
