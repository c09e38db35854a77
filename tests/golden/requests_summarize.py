"""Golden requests of SummarizeService. Each summary has a document of its own, so that none reuses another's calls."""

from typing import Any

from google.protobuf.message import Message
from precis.v1 import summarize_pb2 as pb

from tests.golden.case import EMBEDDING_ONLY, PLAIN, SCRIPTED, SUMMARY_ID, Case, cases, to_bytes
from tests.golden.texts import GERMAN, MANUAL, manual_pages

SERVICE = "precis.v1.SummarizeService"
UNKNOWN: Any = 99  # proto3 lets unknown numbers through


def summarize_cases() -> list[Case]:
    """Lists all."""
    summarize, plan = f"{SERVICE}.Summarize", f"{SERVICE}.PlanSummary"
    refused = {f"refused, {name}": request for name, request in _refused().items()}
    return [
        *cases(summarize, _extractive()),
        *cases(summarize, refused),
        *cases(summarize, _scripted(), server=SCRIPTED),
        *cases(plan, {name: _plan(one) for name, one in {**_extractive(), **refused}.items()}),
        *cases(plan, {name: _plan(one) for name, one in _scripted().items()}, server=SCRIPTED),
        *cases(summarize, {"no writer": _request("none", MANUAL)}, server=EMBEDDING_ONLY),
        *cases(plan, {"no writer": _plan(_request("none", MANUAL))}, server=EMBEDDING_ONLY),
        *_about_ids(),
        *_about("Summarize/pages", PLAIN),
        *_about("Summarize/pass@scripted", SCRIPTED),
        *_about("Summarize/critic fails twice@scripted", SCRIPTED),
        *_about("Summarize/empty answers@scripted", SCRIPTED),
        Case("Summarize/key again", PLAIN, summarize, (to_bytes(_keyed("1")),), follows="Summarize/key"),
        Case("Summarize/key of another", PLAIN, summarize, (to_bytes(_keyed("2")),), follows="Summarize/key"),
    ]


def _request(name: str, text: str, **options: Any) -> pb.SummarizeRequest:  # noqa: ANN401
    document = pb.Document(document_id=f"id of {name}", name=f"golden-{name}", text=text)
    # One batch after another, and no event joined with another: the events are the same every time.
    settings = pb.SummarizeOptions(**{"wave_batches": 1, **options})
    return pb.SummarizeRequest(document=document, options=settings, include_text=True)


def _keyed(number: str) -> pb.SummarizeRequest:
    request = _request("key", f"Number {number} is pumped through the valve V{number} at 3 bar. {GERMAN}")
    request.idempotency_key = "golden-key"
    return request


def _chunked(name: str, count: int, **fields: Any) -> pb.SummarizeRequest:  # noqa: ANN401
    request = _request(name, "")
    for index in range(count):
        text = f"{name}: torque bolt B{index} to {index + 10} Nm. WARNING: never exceed {index + 2} bar at V{index}."
        request.document.chunks.add(text=text, page_number=index // 7 + 1)
    request.options.MergeFrom(pb.SummarizeOptions(**fields))
    return request


def _extractive() -> dict[str, pb.SummarizeRequest]:
    gaps = _chunked("gaps", 9)
    gaps.document.chunks[4].text = " "
    gaps.document.total_pages = 40
    return {
        "pages": _request("pages", manual_pages(0, 3)),
        "operator": _request("operator", manual_pages(3, 2), summary_type=pb.SUMMARY_TYPE_OPERATOR),
        "small groups": _request("small groups", manual_pages(6, 2), batch_size=2, reduce_group_size=3),
        "chunks": _chunked("chunks", 29),
        "gaps": gaps,
        "repeats": _request("repeats", "The valve V9 opens at 6 bar. " * 40 + "Close V9 after the test."),
        "german": _request("german", GERMAN),
        "one sentence": _request("one sentence", "Open valve V1."),
        "key": _keyed("1"),
    }


def _scripted() -> dict[str, pb.SummarizeRequest]:
    return {
        "pass": _chunked("pass", 29),
        "manual": _request("manual", manual_pages(0, 4), batch_size=3),
        "operator": _request("operator", manual_pages(8, 1), summary_type=pb.SUMMARY_TYPE_OPERATOR),
        "critic fails twice": _chunked("fails", 15),
        "critic fails, one iteration": _chunked("fails once", 8, max_iterations=1),
        "critic fails, then passes": _chunked("fails then", 15, max_iterations=3),
        "critic cannot be read": _chunked("unreadable", 8),
        "empty answers": _chunked("silence", 8),
        "one chunk": _chunked("single", 1),
    }


def _plan(request: pb.SummarizeRequest) -> pb.PlanSummaryRequest:
    return pb.PlanSummaryRequest(document=request.document, options=request.options)


def _refused() -> dict[str, pb.SummarizeRequest]:
    chunk = pb.DocumentChunk(text="x")
    page = pb.Document(chunks=[pb.DocumentChunk(text="x", page_number=3)], total_pages=2)
    below = pb.Document(chunks=[chunk, pb.DocumentChunk(text="x", page_number=-1)])
    index = pb.Document(chunks=[chunk, pb.DocumentChunk(text="x", chunk_index=-1)])
    twice = pb.Document(chunks=[chunk, pb.DocumentChunk(text="y", chunk_index=0)])
    options: dict[str, Any] = {
        "summary type": {"summary_type": UNKNOWN},
        "batch size": {"batch_size": 0},
        "group size": {"reduce_group_size": 1},
        "iterations": {"max_iterations": 99},
        "wave": {"wave_batches": 0},
    }
    return {
        "nothing": pb.SummarizeRequest(),
        "no chunks": pb.SummarizeRequest(document=pb.Document(name="empty")),
        "blank chunks": pb.SummarizeRequest(document=pb.Document(chunks=[pb.DocumentChunk(text=" ")])),
        "blank": pb.SummarizeRequest(document=pb.Document(text=" \n")),
        "both": pb.SummarizeRequest(document=pb.Document(chunks=[chunk], text="x")),
        "name": pb.SummarizeRequest(document=pb.Document(text="x", name="n" * 501)),
        "pages": pb.SummarizeRequest(document=page),
        "page": pb.SummarizeRequest(document=below),
        "index": pb.SummarizeRequest(document=index),
        "index twice": pb.SummarizeRequest(document=twice),
        **{name: _request("refused", "x", **fields) for name, fields in options.items()},
        "key": pb.SummarizeRequest(document=pb.Document(text="x"), idempotency_key="k" * 201),
    }


def _requests_with(summary_id: str) -> dict[str, Message]:
    return {
        "ResumeSummary": pb.ResumeSummaryRequest(summary_id=summary_id, include_text=True),
        "GetSummary": pb.GetSummaryRequest(summary_id=summary_id),
        "CancelSummary": pb.CancelSummaryRequest(summary_id=summary_id),
    }


def _about_ids() -> list[Case]:
    asked: dict[str, Message] = {
        "SubmitSummary/nothing": pb.SubmitSummaryRequest(),
        "ListSummaries/page size": pb.ListSummariesRequest(page_size=-1),
    }
    for name, summary_id in {"empty id": "", "long id": "x" * 101, "unknown id": "nobody"}.items():
        asked |= {f"{method}/{name}": request for method, request in _requests_with(summary_id).items()}
        asked[f"SubmitSummary/{name}"] = pb.SubmitSummaryRequest(summary_id=summary_id)
        asked[f"WatchSummary/{name}"] = pb.WatchSummaryRequest(summary_id=summary_id)
        asked[f"DeleteSummary/{name}"] = pb.DeleteSummaryRequest(summary_id=summary_id)
    return [
        Case(name, PLAIN, f"{SERVICE}.{name.split('/', 1)[0]}", (to_bytes(request),)) for name, request in asked.items()
    ]


def _about(name: str, server: str) -> list[Case]:
    """Asks for what became of a summary."""
    return [
        Case(f"{method} of {name}", server, f"{SERVICE}.{method}", (to_bytes(request),), follows=name)
        for method, request in _requests_with(SUMMARY_ID).items()
    ]
