from collections.abc import Callable

import pytest

from pipeline.summarize.document import SummaryType
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.excerpt import read_excerpts, write_markdown
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, SummaryForm, Wishes
from pipeline.summarize.writer import Extraction, MergeStage, MergeTask
from tests.fakes_pipeline import fake_models
from tests.unit.pipeline.summarize.extractive.manual import count_tokens

TEXT = """# Pumps

The pump moves water from the tank to the boiler.

| Type | Flow |
|---|---|
| P-1 | 12 l/min |

Do this in the order that is given:

1. Close the valve before you start.
2. Press the green button for 3 seconds.

```
$ pump start
```

work_mem (integer)

:   The default is 4 MB.
"""


SIZES = {"wal_buffers": 16, "min_wal_size": 80, "max_wal_size": 1024, "work_mem": 4}
ENTRIES = "# Settings\n\n" + "\n\n".join(
    f"{name} (integer)\n\nSets how much is kept before the server waits. The default is {size} MB, or {size} kB."
    for name, size in SIZES.items()
)


async def shaped(
    shape: Shape, *, text: str = TEXT, audience: SummaryType = SummaryType.TECHNICAL, focus: str = ""
) -> str:
    task = MergeTask(
        audience,
        "",
        MergeStage.SHAPE,
        1,
        0,
        1,
        (Extraction(text, (0, 0), (0, 0)),),
        1_000,
        shape=shape,
        wishes=Wishes(focus=focus),
    )
    return (await ExtractiveWriter(ExtractiveConfig(), fake_models()).merge(task)).text


async def test_prose_has_neither_headings_nor_lists_nor_code() -> None:
    text = await shaped(Shape(form=SummaryForm.PROSE))
    assert "The pump moves water from the tank to the boiler." in text
    assert "Type: P-1; Flow: 12 l/min." in text
    assert not [line for line in text.splitlines() if line.startswith(("#", "-", "|", "1.", "`"))]
    assert "order that is given" not in text  # announces what is not there as a list


async def test_bullets_are_one_list() -> None:
    text = await shaped(Shape(form=SummaryForm.BULLETS))
    assert all(line.startswith("- ") for line in text.splitlines())
    assert "- Press the green button for 3 seconds." in text


async def test_operators_read_warnings_and_steps_before_what_explains() -> None:
    words = Shape(LengthGoal(21, LengthUnit.WORDS))
    text = (
        "The plant was built in 1987 by two brothers from Kiel. Its hall has a roof of green glass. "
        "WARNING: Never open the valve while the pump runs at full speed. The colour of the hall is a friendly blue."
    )
    assert "WARNING" in await shaped(words, text=text, audience=SummaryType.OPERATOR)
    assert "WARNING" not in await shaped(words, text=text)


@pytest.mark.parametrize("name", ["wal_buffers", "min_wal_size", "max_wal_size", "work_mem"])
@pytest.mark.parametrize("written", [str, lambda name: name.replace("_", " ")], ids=["name", "words"])
async def test_a_question_is_answered_by_the_entry_that_it_names(name: str, written: Callable[[str], str]) -> None:
    question = f"What is the default of {written(name)}?"
    text = await shaped(Shape(LengthGoal(30, LengthUnit.WORDS)), text=ENTRIES, focus=question)
    assert name in text
    assert f"The default is {SIZES[name]} MB" in text


async def test_a_question_is_answered_by_the_row_that_names_it() -> None:
    uses = {"EPDM": "water", "NBR": "oil", "PTFE": "steam", "FKM": "acids"}
    rows = "\n".join(f"| {seal} | {use} |" for seal, use in uses.items())
    text = f"# Seals\n\nThe pump has two seals. Seals wear.\n\n| Seal | Used for |\n|---|---|\n{rows}\n"
    said = await shaped(Shape(LengthGoal(25, LengthUnit.WORDS)), text=text, focus="Which seal is used for acids?")
    assert "| FKM | acids |" in said


def rewrite(text: str, *positions: int) -> str:
    excerpts = read_excerpts([text], count_tokens)
    return write_markdown(excerpts, positions or range(len(excerpts)))


def test_sentences_of_one_paragraph_or_long_item_stay_in_one() -> None:
    text = "The pump is red. The valve is blue.\n\nThe motor is green. The belt is black."
    assert rewrite(text, 0, 1, 3) == "The pump is red. The valve is blue.\n\nThe belt is black."
    item = [f"Valve {number} of the hall is shut before pump {number} starts." for number in "12345"]
    assert rewrite(f"- **Start.** {' '.join(item)}", 0, 3) == f"- **Start.** {item[0]} {item[3]}"


def test_lists_steps_listings_and_labels_keep_their_form() -> None:
    assert rewrite("Parts of the pump:\n* seal\n* belt\n  * cover") == "Parts of the pump:\n\n- seal\n- belt\n  - cover"
    assert rewrite("1. Open the valve.\n2) Close the valve.") == "1. Open the valve.\n2) Close the valve."
    assert rewrite("~~~~\n```\ncode = 1\n```\n~~~~") == "````\n```\ncode = 1\n```\n````"
    assert rewrite("# exportfs -ra\n\n# systemctl start nfs") == "```\n# exportfs -ra\n# systemctl start nfs\n```"
    assert rewrite("CAUTION Hot parts\n\nThe housing is hot.") == "**CAUTION Hot parts**\n\nThe housing is hot."


def test_missing_lines_of_a_listing_leave_a_mark() -> None:
    lines = "\n".join(f"key{number} = {number}" for number in range(24))
    assert rewrite(f"```ini\n{lines}\n```", 0, 2).splitlines()[8:11] == ["key7 = 7", "[…]", "key16 = 16"]
