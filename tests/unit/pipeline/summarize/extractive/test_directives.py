import pytest

from pipeline.summarize.document import SummaryType
from pipeline.summarize.extractive.directives import gives_order
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.extractive.selection import Budget
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, SummaryForm
from tests.unit.pipeline.summarize.extractive.manual import count_tokens
from tests.unit.pipeline.summarize.extractive.test_forms import shaped
from tests.unit.pipeline.summarize.extractive.test_selection import choose

PUMP = """# Operation

The pump was painted in Kiel and stands in the cellar of the plant.

Never run the pump dry.

CAUTION: The mechanical seal is destroyed within 30 seconds. A new seal costs 900 euros and a day of work.

The display shows the pressure and the temperature of the water in the pipe.
"""
SERVER = """# Upgrade

WARNING

All tables of the old cluster are lost within 5 seconds of the start. Stop every client and take a full backup.

The release came out in May and was tested by many people all over the world.
"""
MEDICINE = """# Dose

Adults take one tablet of 500 mg in the morning with a glass of water.

DANGER! More than 4 g in 24 hours destroys the liver. Do not exceed 8 tablets. Symptoms come after 2 days.
"""
GERMAN = """# Betrieb

Die Pumpe niemals trocken laufen lassen. Vorsicht: Die Dichtung wird in 30 Sekunden zerstört.

Die Anzeige nennt den Druck und die Menge des Wassers.
"""


@pytest.mark.parametrize(
    ("text", "consequence", "command"),
    [
        (PUMP, "destroyed within 30", "Never run the pump dry."),
        (PUMP, "A new seal costs", "Never run the pump dry."),
        (SERVER, "All tables", "Stop every client and take a full backup."),
        (MEDICINE, "More than 4 g", "Do not exceed 8 tablets."),
        (MEDICINE, "Symptoms", "Do not exceed 8 tablets."),
        (GERMAN, "Die Dichtung", "Die Pumpe niemals trocken laufen lassen."),
    ],
)
def test_a_consequence_needs_the_command_it_belongs_to(text: str, consequence: str, command: str) -> None:
    excerpts = read_excerpts([text], count_tokens)
    (warning,) = [each for each in excerpts if consequence in each.text]
    (place,) = [position for position, each in enumerate(excerpts) if each.text == command]
    assert place in warning.needs


@pytest.mark.parametrize("text", [PUMP, SERVER, MEDICINE, GERMAN])
@pytest.mark.parametrize("summary_type", list(SummaryType))
def test_no_length_keeps_a_warning_without_its_command(text: str, summary_type: SummaryType) -> None:
    kept = set[str]()
    for limit in range(0, 120, 3):
        excerpts, chosen = choose(text, Budget(limit, limit, limit), summary_type=summary_type)
        said = [excerpts[position] for position in chosen]
        kept |= {each.text for each in said}
        for excerpt in said:
            assert set(excerpt.needs) <= set(chosen)
    assert {each.text for each in read_excerpts([text], count_tokens)} == kept


@pytest.mark.parametrize("form", list(SummaryForm))
async def test_no_text_of_any_length_and_form_says_what_happens_and_not_what_to_do(form: SummaryForm) -> None:
    found = set[bool]()
    for words in range(2, 70, 4):
        text = await shaped(Shape(goal=LengthGoal(words, LengthUnit.WORDS), form=form), text=PUMP)
        assert "Never run the pump dry" in text or "destroyed within" not in text
        found.add("destroyed within" in text)
    assert True in found


def test_a_warning_does_not_take_a_command_of_another_section_or_what_stands_far_away() -> None:
    text = "# Start\n\nNever start it twice.\n\n# Heat\n\nCAUTION: The cover is hot.\n\nIt is red.\n\nDo not sit on it."
    excerpts = read_excerpts([text], count_tokens)
    (warning,) = [each for each in excerpts if each.text.startswith("CAUTION")]
    assert [excerpts[need].text for need in warning.needs] == ["Heat"]


def test_a_warning_that_forbids_something_itself_needs_nothing_beside_it() -> None:
    text = "Always wear gloves.\n\nWARNING: Do not open the valve under pressure."
    assert [each.needs for each in read_excerpts([text], count_tokens)] == [(), ()]


def test_a_signal_word_alone_stays_with_what_it_warns_of_and_a_far_command_does_not_come() -> None:
    text = "WARNING! The cover is hot. " + "It glows red for an hour. " * 5 + "Do not sit on it."
    excerpts = read_excerpts([text], count_tokens)
    assert excerpts[0].text == "WARNING!"
    assert (excerpts[0].needs, 0 in excerpts[1].needs) == ((1,), True)
    assert [7 in each.needs for each in excerpts] == [False] * 3 + [True] * 4 + [False]


def test_a_lamp_called_warning_is_no_warning() -> None:
    text = "Close all doors. Warning lamps are red and hang above each of them."
    assert [each.needs for each in read_excerpts([text], count_tokens)] == [(), ()]


@pytest.mark.parametrize(
    "text",
    [
        "Never run a pump dry.",
        "CAUTION: Do not open it.",
        "If it leaks, stop the pump.",
        "Press the button for 3 s.",
        "The valve must be closed.",
        "Gloves must not be worn.",
        "Schalten Sie den Strom ab.",
        "Der Deckel darf nicht geöffnet werden.",
    ],
)
def test_orders_and_prohibitions(text: str) -> None:
    assert gives_order(text)


@pytest.mark.parametrize(
    "text",
    [
        "The seal is destroyed.",
        "The pump never recovers.",
        "Seals do not survive this.",
        "Replacing the seal takes a day.",
        "Die Dichtung wird zerstört.",
    ],
)
def test_what_only_states_something(text: str) -> None:
    assert not gives_order(text)
