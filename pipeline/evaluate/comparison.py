"""A hypothesis and the premises it is compared with, before any score is known."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.text.passage import Passage


@dataclass(frozen=True, slots=True)
class Comparison:
    """One hypothesis against the windows of a text, or of several.

    Attributes:
        hypothesis: what is asked.
        premises: all that exact mode scores; may be empty. Comparisons against the same text share one tuple.
        chosen: indices of the premises to score, rising; all of them in exact mode.
    """

    hypothesis: Passage
    premises: tuple[Passage, ...]
    chosen: Sequence[int]

    @classmethod
    def exact(cls, hypothesis: Passage, premises: tuple[Passage, ...]) -> "Comparison":
        """Compares with all premises."""
        return cls(hypothesis, premises, range(len(premises)))
