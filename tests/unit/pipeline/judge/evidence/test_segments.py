"""The segments of a summary."""

from tests.unit.pipeline.judge.evidence.tables_by_fakes import build


def test_segments_end_at_full_stops_semicolons_and_line_ends_and_short_ones_are_ignored() -> None:
    summary = (
        "The council voted to close the bridge; shop owners in the old town\nlose, for they sell cheese and bread.\n"
        "It rained.\r\n- Drivers will go over the motorway bridge at Hatton\nShort bit."
    )
    assert [segment.passage.quote for segment in build(summary=summary).segments] == [
        "The council voted to close the bridge",
        "shop owners in the old town",
        "lose, for they sell cheese and bread.",
        "Drivers will go over the motorway bridge at Hatton",
    ]


def test_a_summary_of_short_segments_is_one_segment() -> None:
    for summary in ("It rained. Ann left.", "The council\nof Brookfield\nvoted to close\nthe old steel bridge."):
        (segment,) = build(summary=summary).segments
        assert segment.passage.quote == summary
