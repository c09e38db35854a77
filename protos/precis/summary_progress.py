"""Follows a summary through its events, and through streams that break."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

import grpc
from google.protobuf.message import Message

from precis.calls import SUMMARIZE, Call, rpc_path
from precis.errors import Cancelled, PrecisError, SummaryIncomplete
from precis.retry import Attempts, RetryPolicy
from precis.rich_status import RichStatus
from precis.v1 import summarize_pb2 as pb
from precis.words import word_of

StepKind = Literal["accepted", "plan", "batch", "group", "draft", "layers", "reflect", "topics", "warning"]
Phase = Literal["plan", "map", "reduce", "reflect", "topics", "done", "unknown"]
DocumentSource = str | pb.Document | Iterable[str | pb.DocumentChunk]
"""The text of a document; or its chunks, in order; or the whole message."""


@dataclass(frozen=True, slots=True)
class SummaryStep:
    """One event of a running summary, with how far it is by then.

    Attributes:
        kind: what happened.
        phase: what the summary is at.
        calls_done: planned calls that are finished.
        calls_total: planned calls; 0 before the plan is made.
        elapsed_s: time of this run.
        eta_s: estimate of the rest; None until a call has been timed.
        message: everything that the server sent.
    """

    kind: StepKind
    phase: Phase
    calls_done: int
    calls_total: int
    elapsed_s: float
    eta_s: float | None
    message: pb.SummaryEvent = field(repr=False)


FollowedRequest = pb.SummarizeRequest | pb.ResumeSummaryRequest | pb.WatchSummaryRequest
"""Begins a summary, goes on with it, or watches it."""


class SummaryFollower:
    """What a stream's reader must remember: the id, the last progress, the result, and the attempts.

    Args:
        request: begins the summary, or goes on with it.
        policy: how often a broken stream is opened again.
        timeout_s: for all streams together; None: as long as it takes.
    """

    def __init__(self, request: FollowedRequest, policy: RetryPolicy, timeout_s: float | None) -> None:
        self._request = request
        self._attempts = Attempts(policy, timeout_s)
        self._progress = pb.SummaryProgress(phase=pb.SUMMARY_PHASE_PLAN)  # what comes first
        self._most_calls_done = 0
        self._is_announced = False
        self.summary_id = "" if isinstance(request, pb.SummarizeRequest) else request.summary_id
        self.summary: pb.Summary | None = None

    @property
    def remaining_s(self) -> float | None:
        """Time until the deadline; None without one."""
        return self._attempts.remaining_s

    def next_call(self) -> Call[pb.SummaryEvent]:
        """Returns the call that opens the stream: from its beginning, or from where it broke."""
        if isinstance(self._request, pb.SummarizeRequest) and not self.summary_id:
            return _stream_call("Summarize", self._request, pb.SummarizeResponse.FromString)
        if isinstance(self._request, pb.WatchSummaryRequest):
            return _stream_call("WatchSummary", self._request, pb.WatchSummaryResponse.FromString)
        request = self._request
        if isinstance(request, pb.SummarizeRequest):  # it is accepted, and its budget known
            request = pb.ResumeSummaryRequest(
                summary_id=self.summary_id, include_text=request.include_text, include_draft=request.include_draft
            )
        return _stream_call("ResumeSummary", request, pb.ResumeSummaryResponse.FromString)

    def take(self, event: pb.SummaryEvent) -> SummaryStep | None:
        """Returns the step that an event is. None: the summary is there, the event is known already, or not at all."""
        kind = event.WhichOneof("event")
        if kind is None:
            return None
        if kind == "summary":
            self.summary = event.summary
            return None
        if kind == "accepted":
            self.summary_id = event.accepted.summary_id
            if self._is_announced:
                return None
            self._is_announced = True
        self._note_progress(event)
        progress = self._progress
        return SummaryStep(
            kind=kind,
            phase=word_of(pb.SummaryPhase, progress.phase),
            calls_done=progress.calls_done,
            calls_total=progress.calls_total,
            elapsed_s=progress.elapsed.ToTimedelta().total_seconds(),
            eta_s=progress.eta.ToTimedelta().total_seconds() if progress.HasField("eta") else None,
            message=event,
        )

    def delay_s(self, error: PrecisError) -> float:
        """Returns how long to wait before the stream is opened again. Raises the error when it is not."""
        return self._attempts.resume_delay_s(error, is_accepted=self._is_announced)

    def result(self) -> pb.Summary:
        """Returns the summary of a stream that has ended.

        Raises:
            SummaryIncomplete: it failed or was cancelled, and can be resumed.
            Cancelled: the stream was closed before.
        """
        if self.summary is None:
            what = f"summary {self.summary_id} was closed before it was done: it can be resumed"
            raise Cancelled(RichStatus(grpc.StatusCode.CANCELLED, what))
        if self.summary.status != pb.SUMMARY_STATUS_DONE:
            raise SummaryIncomplete(self.summary)
        return self.summary

    def _note_progress(self, event: pb.SummaryEvent) -> None:
        for part in (event.plan, event.batch, event.group, event.layers, event.reflect, event.topics):
            if part.HasField("progress"):
                self._progress = part.progress
        if self._progress.calls_done > self._most_calls_done:
            self._most_calls_done = self._progress.calls_done
            self._attempts.succeed()


def to_document(source: DocumentSource, name: str) -> pb.Document:
    """Builds a document from what the user has."""
    if isinstance(source, pb.Document):
        return source
    if isinstance(source, str):
        return pb.Document(name=name, text=source)
    chunks = [pb.DocumentChunk(text=chunk) if isinstance(chunk, str) else chunk for chunk in source]
    return pb.Document(name=name, chunks=chunks)


def summarize_request(
    document: pb.Document,
    options: pb.SummarizeOptions | None,
    budget: pb.SummaryBudget | None = None,
    *,
    idempotency_key: str,
    include_text: bool = False,
) -> pb.SummarizeRequest:
    """Builds the request. Without a key it gets one, so that it can be sent again when the stream breaks early."""
    return pb.SummarizeRequest(
        document=document,
        options=options,
        idempotency_key=idempotency_key or uuid4().hex,
        include_text=include_text,
        budget=budget,
    )


_EventResponse = pb.SummarizeResponse | pb.ResumeSummaryResponse | pb.WatchSummaryResponse


def _stream_call(name: str, request: Message, parse: Callable[[bytes], _EventResponse]) -> Call[pb.SummaryEvent]:
    return Call(rpc_path(SUMMARIZE, name), request, lambda data: parse(data).event)
