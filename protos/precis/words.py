"""Words for the enums of the contract, the same as in the command line, and known to a type checker."""

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from precis.errors import invalid_argument
from precis.v1 import common_pb2, judge_pb2

Framework = Literal["twin-lock", "judge-lock", "ultra"]
MetricName = Literal["coverage", "alignment", "hallucination", "relevance", "bias-toxicity"]
MetricStatus = Literal["scored", "abstained", "error", "no-claims", "unknown"]
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


def framework_numbers(words: Iterable[Framework]) -> list[judge_pb2.JudgeFramework.ValueType]:
    """Returns the frameworks as the contract numbers them."""
    return [_number_of(judge_pb2.JudgeFramework, word, "frameworks") for word in words]


def view_number(word: View | None) -> common_pb2.ResultView.ValueType:
    """Returns a view as the contract numbers it; None is the server's default."""
    return common_pb2.RESULT_VIEW_UNSPECIFIED if word is None else _number_of(common_pb2.ResultView, word, "view")


def priority_number(word: Priority | None) -> common_pb2.Priority.ValueType:
    """Returns a priority as the contract numbers it; None is the RPC's default."""
    return common_pb2.PRIORITY_UNSPECIFIED if word is None else _number_of(common_pb2.Priority, word, "priority")


def word_of(enum: Enum, number: int) -> Any:  # noqa: ANN401 - one of the Literals above, by the enum
    """Returns the word for a number of an enum; "unknown" for none, and for one that this client does not know."""
    if number == 0:
        return UNKNOWN
    try:
        return enum.Name(number).removeprefix(_prefix(enum)).lower().replace("_", "-")
    except ValueError:
        return UNKNOWN


def _number_of(enum: Enum, word: str, field: str) -> Any:  # noqa: ANN401 - the number is of the enum's own type
    names = {word_of(enum, enum.Value(name)): name for name in enum.keys()[1:]}
    if word not in names:
        raise invalid_argument(field, f"expected {', '.join(names)}, got {word!r}")
    return enum.Value(names[word])


def _prefix(enum: Enum) -> str:
    return enum.Name(0).removesuffix("UNSPECIFIED")
