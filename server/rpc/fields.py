"""What several services' messages share: enums in both directions, options, places in texts, models, costs, time."""

import math
from collections.abc import Iterator, Sequence
from enum import Enum, StrEnum
from typing import Any, Generic, TypeVar, overload

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from precis.v1 import common_pb2, fusion_pb2, judge_pb2, synthesis_pb2

from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import FusionForm, LogisticMapping
from pipeline.llm.chat_model import LlmUsage
from pipeline.reading.passage import TextSpan

E = TypeVar("E", bound=Enum)


class EnumCodec(Generic[E]):
    """Translates between an enum of ours and its proto enum, whose values have the same names after their prefix.

    Args:
        members: our enum.
        proto: the proto enum; its zero means that nothing is said.

    Raises:
        TypeError: one of the two has a name that the other lacks.
    """

    def __init__(self, members: type[E], proto: EnumDescriptor) -> None:
        prefix = proto.values_by_number[0].name.removesuffix("UNSPECIFIED")
        known = {value.name.removeprefix(prefix): value.number for value in proto.values if value.number}
        if different := known.keys() ^ members.__members__.keys():
            raise TypeError(f"{members.__name__} and {proto.name} differ in {', '.join(sorted(different))}")
        self.numbers: dict[E, Any] = {member: known[member.name] for member in members}
        self.members: dict[Any, E] = {number: member for member, number in self.numbers.items()}

    def parse(self, number: int, field: str) -> E:
        """Looks a number up. Raises InvalidInputError: proto3 lets unknown numbers through."""
        if number not in self.members:
            raise InvalidInputError(field, "one of the numbers " + ", ".join(map(str, self.members)), str(number))
        return self.members[number]


def set_fields(message: Message) -> dict[str, Any]:
    """Returns exactly what was set: an explicit 0 of an `optional` field counts, an absent field does not."""
    return {descriptor.name: value for descriptor, value in message.ListFields()}


FUSION_FORMS = EnumCodec(FusionForm, fusion_pb2.FusionForm.DESCRIPTOR)


def parse_fusion(options: judge_pb2.JudgeOptions | synthesis_pb2.SynthesisOptions, *names: str) -> dict[str, Any]:
    """Lists the form of fusion, and the options of these names, if the caller set them. Raises InvalidInputError."""
    given = {name: value for name, value in set_fields(options).items() if name in names}
    if options.fusion_form:
        given["form"] = FUSION_FORMS.parse(options.fusion_form, "options.fusion_form")
    return given


S = TypeVar("S", judge_pb2.MetricToolScore, synthesis_pb2.QualityToolScore)


def with_mappings(scores: Sequence[S], field: str) -> Iterator[tuple[S, str, LogisticMapping | None]]:
    """Yields scores with their paths and logistic mappings, if any. Raises InvalidInputError."""
    for index, score in enumerate(scores):
        path = f"{field}[{index}]"
        parameters = {name: getattr(score.mapping, name) for name in ("b1", "b2", "b3", "b4", "b5")}
        for name, value in parameters.items():
            if not math.isfinite(value):
                raise InvalidInputError(f"{path}.mapping.{name}", "a finite number", f"{value:g}")
        yield score, path, LogisticMapping(**parameters) if score.HasField("mapping") else None


def may_ask_language_model(options: judge_pb2.JudgeOptions | synthesis_pb2.SynthesisOptions) -> bool:
    """Tells whether the caller lets the language model be asked."""
    return options.use_language_model if options.HasField("use_language_model") else True


class ResultView(StrEnum):
    """How much of a result a response holds."""

    SCORES = "scores"
    CLAIMS = "claims"
    FULL = "full"


VIEWS = EnumCodec(ResultView, common_pb2.ResultView.DESCRIPTOR)


def parse_view(number: int) -> ResultView:
    """Reads the view of a request. Raises InvalidInputError for an unknown number."""
    return VIEWS.parse(number, "view") if number else ResultView.CLAIMS


@overload
def to_span(passage: TextSpan) -> common_pb2.TextSpan: ...
@overload
def to_span(passage: TextSpan | None) -> common_pb2.TextSpan | None: ...
def to_span(passage: TextSpan | None) -> common_pb2.TextSpan | None:
    """Gives a stretch of the caller's text; nothing for nothing, which leaves a message field unset."""
    if passage is None:
        return None
    return common_pb2.TextSpan(text_id=passage.text_id, start=passage.start, end=passage.end, text=passage.quote)


def to_usage(usage: LlmUsage, identity: str) -> common_pb2.LlmUsage | None:
    """Gives what the language model's answers cost; None, which leaves the field unset, when that is nothing."""
    if usage == LlmUsage():
        return None
    return common_pb2.LlmUsage(
        identity=identity,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        retries=usage.retries,
    )


def to_duration(seconds: float) -> Duration:
    """Converts seconds, not negative, to a protobuf duration."""
    whole, nanos = divmod(round(max(seconds, 0.0) * 1e9), 1_000_000_000)
    return Duration(seconds=whole, nanos=nanos)
