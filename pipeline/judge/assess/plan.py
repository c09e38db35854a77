"""What an iteration of an assessment will do."""

from dataclasses import dataclass

from pipeline.judge.synthesis.request import Mode


@dataclass(frozen=True, slots=True)
class AssessPlan:
    """The decisions of the planner.

    Attributes:
        iteration: from 0.
        mode: kind of answer.
        scope: what is looked at.
        distortions: that are looked for.
        tools: names, in the order in which they run; with those of earlier iterations.
        is_wide: whether a part of the scope is also looked for by single words of its name.
        reason: why, in a few words.
        author: "deterministic", or the identity of the chat model.
        notes: what a reader should know.
    """

    iteration: int
    mode: Mode
    scope: tuple[str, ...]
    distortions: tuple[str, ...]
    tools: tuple[str, ...]
    is_wide: bool
    reason: str
    author: str
    notes: tuple[str, ...] = ()

    def does_the_same(self, other: "AssessPlan") -> bool:
        """Tells whether another plan would find the same."""
        return (self.scope, set(self.tools), self.is_wide) == (other.scope, set(other.tools), other.is_wide)
