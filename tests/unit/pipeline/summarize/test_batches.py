"""What a batch is told of the rest of the document."""

import pytest

from pipeline.summarize.document import SourceChunk
from pipeline.summarize.graph.batches import Background
from pipeline.summarize.plan import ChunkBatch


def words(text: str) -> int:
    return len(text.split())


def told(*texts: str, limit_tokens: int = 100) -> list[str]:
    batches = [ChunkBatch((SourceChunk(index, 0, text),), words(text)) for index, text in enumerate(texts)]
    around = Background(batches)
    return [around.of(index, limit_tokens, words) for index in range(len(texts))]


def test_a_batch_is_told_the_headings_above_it_numbered_or_marked() -> None:
    around = told("# Pump\n\nText.\n\n## Oil\n\nOld.", "It holds 4 l.", "## Air\n\nNew.", "# Motor\n\nText.")
    assert around == ["", "Headings above: Pump > Oil", "Headings above: Pump", ""]
    first = "3.1 Pumps\n\nText.\n\n3.2 Filters\n\nText.\n1 Open the valve\n2 Close the valve\nText."
    assert told(first, "More.")[1] == "Headings above: 3.2 Filters"
    assert told("# Pump\n\n```\n# apt update\n```\n", "More.")[1] == "Headings above: Pump"


def test_a_batch_is_told_what_its_abbreviations_stand_for_elsewhere() -> None:
    defines = "The power supply unit (PSU) and the device under test (DUT) stand apart."
    assert told(defines, "The PSU gives 12 V.", "No letters.", "A new power supply unit (PSU) came.") == [
        *("", "PSU: power supply unit", "", "")
    ]


@pytest.mark.parametrize(
    "text",
    ["It weighs a ton (USA).", "See the plan (TBD) of it.", "The press sensor unit (PSU), a power supply unit (PSU)."],
)
def test_what_is_no_clear_definition_is_left_out(text: str) -> None:
    assert told(text, "USA TBD PSU")[1] == ""


def test_what_does_not_fit_is_left_out() -> None:
    defines = "# Pump\n\nThe power supply unit (PSU) hums."
    assert told(defines, "PSU", limit_tokens=3)[1] == "Headings above: Pump"
    assert told(defines, "PSU", limit_tokens=2)[1] == ""
