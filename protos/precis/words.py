"""Words for the enums of the contract, the same as in the command line, and known to a type checker."""

from typing import Any, Literal, Protocol

Framework = Literal["twin-lock", "judge-lock", "ultra"]
MetricName = Literal["coverage", "alignment", "hallucination", "relevance", "bias-toxicity"]
MetricStatus = Literal[
    "scored", "abstained", "error", "no-claims", "partial", "unsupported-language", "no-statement", "unknown"
]
SupportVerdict = Literal["supported", "has-unsupported", "abstained", "unknown"]
ClaimLabel = Literal["supported", "partial", "unsupported", "unknown"]
MismatchKind = Literal["number", "date", "name", "negation", "unknown"]
View = Literal["scores", "claims", "full"]
Priority = Literal["interactive", "bulk"]
ServingStatus = Literal["SERVING", "NOT_SERVING", "UNKNOWN"]

UNKNOWN = "unknown"  # a value of a newer server


class Enum(Protocol):
    """What protobuf makes of an enum."""

    def Name(self, number: Any) -> str:  # noqa: ANN401, N802 - protobuf's
        """Returns the name of a number."""

    def Value(self, name: str) -> Any:  # noqa: ANN401, N802 - protobuf's
        """Returns the number of a name."""

    def keys(self) -> list[str]:
        """Lists the names."""


def word_of(enum: Enum, number: int) -> Any:  # noqa: ANN401 - one of the Literals above, by the enum
    """Returns the word for a number of an enum; "unknown" for none, and for one that this client does not know."""
    if number == 0:
        return UNKNOWN
    try:
        return enum.Name(number).removeprefix(_prefix(enum)).lower().replace("_", "-")
    except ValueError:
        return UNKNOWN


def _prefix(enum: Enum) -> str:
    return enum.Name(0).removesuffix("UNSPECIFIED")
