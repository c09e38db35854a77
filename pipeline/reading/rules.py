"""Rules about text: each has a name, an example and a switch, so that what it is worth can be measured.

`scripts/bench judge --without NAME` measures with and without one, and so does `scripts/bench summarize`. The pages of
docs/rules are written from these objects.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

RULES: dict[str, "Rule"] = {}
"""All rules of the modules that were imported, by name."""


@dataclass(slots=True, eq=False)
class Rule:
    """One decision about text that a program could also not take."""

    name: str  # as it is given to `--without`
    room: str  # the page of docs/rules that tells of it
    what: str  # it does, in one sentence
    before: str  # an example of a text
    after: str  # what is made of it
    is_on: bool = True  # whether it is applied. Only measurements switch it off.

    def __post_init__(self) -> None:
        """Enters the rule into the list of all; a name stands for one rule."""
        if self.name in RULES:
            raise ValueError(f"two rules are called {self.name}")
        RULES[self.name] = self


@contextmanager
def without(names: Iterable[str]) -> Iterator[None]:
    """Switches rules off for a while, for the whole process.

    Raises:
        ValueError: a name is of no rule; the message lists those that there are.
    """
    chosen = list(names)
    if unknown := [name for name in chosen if name not in RULES]:
        raise ValueError(f"no rule {', '.join(unknown)}; there are {', '.join(sorted(RULES))}")
    for name in chosen:
        RULES[name].is_on = False
    try:
        yield
    finally:
        for name in chosen:
            RULES[name].is_on = True
