"""A reply does not compile unless every field of its message has a partner."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from precis.v1 import common_pb2, evidence_pb2, judge_pb2
from precis.v1 import summarize_pb2 as pb

from pipeline.reading.passage import TextSpan
from server.rpc.fields import EnumCodec
from server.services.reply import Exceptions, ReplyError, only, reply

SPAN = TextSpan("source", 0, 4, "Text", "text")


@dataclass
class Failure:
    kind: str
    message: str
    retry_after_s: float | None


@dataclass
class Warned:
    code: str


@dataclass
class Timings:
    total_ms: float
    evidence_ms: float

    @property
    def scoring_ms(self) -> float:
        return self.total_ms - self.evidence_ms


class Kind(StrEnum):
    NUMBER = "1"
    DATE = "2"
    NAME = "3"
    NEGATION = "4"


class FewerKinds(StrEnum):
    NUMBER = "1"
    DATE = "2"


class OtherKinds(StrEnum):
    NUMBER = "1"
    DATE = "2"
    NAME = "3"
    NEGATION = "4"
    UNIT = "5"


@dataclass
class Mismatch:
    kind: Kind
    claim: TextSpan
    source: TextSpan | None


@dataclass
class FewerMismatch:
    kind: FewerKinds
    claim: TextSpan
    source: TextSpan | None


def now(_: object) -> str:
    return "now"


def test_fields_of_the_same_name_are_sent() -> None:
    convert = reply(Mismatch, evidence_pb2.ClaimMismatch)
    span = common_pb2.TextSpan(text_id="source", end=4, text="Text")
    sent = convert(Mismatch(Kind.NAME, SPAN, None))
    assert sent == evidence_pb2.ClaimMismatch(kind=evidence_pb2.MISMATCH_KIND_NAME, claim=span)
    assert convert(Mismatch(Kind.NAME, SPAN, SPAN)).source == span


def test_properties_and_milliseconds_are_partners() -> None:
    sent = reply(Timings, judge_pb2.JudgeTimings)(Timings(9.5, 6.25))
    assert [sent.total.ToMicroseconds(), sent.scoring.ToMicroseconds()] == [9_500, 3_250]


def test_a_path_and_a_function_are_partners() -> None:
    exceptions: Exceptions = {"SummaryFailure.retry_delay": "retry_after_s", "SummaryFailure.message": now}
    convert = reply(Failure, pb.SummaryFailure, exceptions)
    sent = convert(Failure("Busy", "", 2.5))
    assert (sent.message, sent.retry_delay.ToMilliseconds()) == ("now", 2_500)
    assert not convert(Failure("Busy", "", None)).HasField("retry_delay")


@pytest.mark.parametrize(
    ("domain", "message", "exceptions", "complaint"),
    [
        (Warned, pb.SummaryWarning, {}, "SummaryWarning.message of Warned: no message"),
        (Failure, pb.SummaryFailure, {}, "SummaryFailure.retry_delay of Failure: no retry_delay"),
        (Warned, pb.SummaryWarning, {"SummaryWarning.colour": now}, "SummaryWarning.colour is no field"),
        (FewerMismatch, evidence_pb2.ClaimMismatch, {}, "ClaimMismatch.kind of FewerMismatch: FewerKinds and"),
    ],
)
def test_what_does_not_fit_is_refused(domain: Any, message: Any, exceptions: Any, complaint: str) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=complaint):
        reply(domain, message, exceptions)


def test_an_error_inside_names_the_inner_field() -> None:
    @dataclass
    class Batch:
        warnings: tuple[Warned, ...]

    with pytest.raises(ReplyError, match=r"Summary\.warnings of Batch: SummaryWarning\.message of Warned: no message"):
        reply(Batch, pb.Summary, only(pb.Summary, ("warnings",)))


def test_only_refuses_a_name_that_is_no_field() -> None:
    with pytest.raises(ReplyError, match=r"TextSpan\.words is no field"):
        only(common_pb2.TextSpan, ("text", "words"))


def test_an_enum_member_without_a_number_is_refused() -> None:
    with pytest.raises(TypeError, match="OtherKinds and MismatchKind differ in UNIT"):
        EnumCodec(OtherKinds, evidence_pb2.MismatchKind.DESCRIPTOR)


def test_numbers_are_read_by_the_names_they_are_sent_by() -> None:
    codec = EnumCodec(Kind, evidence_pb2.MismatchKind.DESCRIPTOR)
    assert all(codec.parse(codec.numbers[kind], "kind") is kind for kind in Kind)
