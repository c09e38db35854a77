"""The code is no larger than its budgets, which may only fall (`python -m scripts.budgets --lower`)."""

import ast

from scripts.budgets import constants, folds, literal_words, measure, read_budgets, regexes, spans

SOURCE = """
import re
LIMIT: int = 3
_WORDS = frozenset(("because", "an", "of"))
PATTERN = re.compile("one|three")
def compare(text): return text.casefold()
class Piece:
    start: int
    end: int
class Name:
    start: str
"""


def test_no_figure_is_over_its_budget() -> None:
    figures, budgets = measure(), read_budgets()
    assert figures.keys() == budgets.keys()
    assert {name: figure for name, figure in figures.items() if figure > budgets[name]} == {}


def test_what_has_a_budget_is_counted() -> None:
    tree = ast.parse(SOURCE)
    assert len(list(regexes(tree))) == 1
    assert literal_words(tree) == 5
    assert (constants(tree), spans(tree), folds(tree)) == (1, 1, 1)
