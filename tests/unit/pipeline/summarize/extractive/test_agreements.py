import numpy as np
import pytest

from pipeline.summarize.extractive.agreements import bindingness, blend_stakes
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape
from tests.unit.pipeline.summarize.extractive.manual import count_tokens
from tests.unit.pipeline.summarize.extractive.test_forms import shaped

CONTRACT = """# Agreement

This agreement is made between Corvid ("the Provider") and Maple ("the Customer").

## 1. Access

1.1 The Provider grants the Customer a right to use the software for its own work in all of its offices.

1.2 The Customer shall not copy or resell the software, and shall not permit any other person to do so.

## 2. Payment

2.1 Invoices shall be sent by electronic mail to the office that the Customer names in a letter.

2.2 The Customer shall pay the Provider a yearly fee of EUR 18,600 in twelve equal parts on the first day.

## 3. Liability

3.1 Each party shall take reasonable care of all things that it was given by the other party for the work.

3.2 The total liability of either party shall not exceed the fees that were paid in the twelve months before.

## 4. Notices

4.1 A notice must be sent by letter to the address of the other party that is given above in this agreement.
"""
STORY = "The pump shall run. " + "It rained on the hills of the valley for three days, and 5,000 euros were paid. " * 9


def test_a_contract_in_short_says_what_is_paid_and_who_is_liable_for_how_much() -> None:
    excerpts = read_excerpts([CONTRACT], count_tokens)
    assert bindingness(excerpts) == 1
    positions = [position for position, each in enumerate(excerpts) if each.text[:2] in {"1.", "2.", "3.", "4."}]
    clauses = [position for position in positions if excerpts[position].kind.name == "SENTENCE"]
    worth = blend_stakes(np.full(len(clauses), 0.5), excerpts, clauses, 1.0)
    best = sorted(clauses, key=lambda each: -worth[clauses.index(each)])[:2]
    assert [excerpts[each].text[:3] for each in best] == ["2.2", "3.2"]


async def test_the_summary_of_a_contract_opens_the_sections_with_most_at_stake() -> None:
    text = await shaped(Shape(goal=LengthGoal(70, LengthUnit.WORDS)), text=CONTRACT)
    assert "EUR 18,600" in text
    assert "shall not exceed the fees" in text
    assert "by letter to the address" not in text


def test_a_text_that_tells_is_worth_what_it_was() -> None:
    excerpts = read_excerpts([STORY], count_tokens)
    assert bindingness(excerpts) == 0
    score = np.full(len(excerpts), 0.5)
    assert blend_stakes(score, excerpts, range(len(excerpts)), 0.0) is score


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("The rent is £48,000.", "The rent is paid."),
        ("Der Mieter zahlt 980 Euro.", "Der Mieter zahlt bald."),
        ("Interest is 1% per month.", "Interest is due."),
        ("The term is thirty (30) days.", "The term is short."),
        ("Die Kündigung ist zum Jahresende möglich.", "Die Zahlung ist zum Jahresende möglich."),
        ("违约方应当支付5000元。", "本合同一式两份。"),
    ],
)
def test_money_shares_periods_and_consequences_are_at_stake(more: str, less: str) -> None:
    excerpts = read_excerpts([f"{more}\n\n{less}"], count_tokens)
    more_worth, less_worth = blend_stakes(np.zeros(2), excerpts, [0, 1], 1.0)
    assert more_worth > less_worth == 0
