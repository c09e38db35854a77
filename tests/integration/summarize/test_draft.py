"""The text of a summary while it is written: a draft that nobody has checked, then the text that replaces it."""

from collections.abc import Callable, Sequence

import grpc
from precis.v1 import summarize_pb2 as pb

from tests.integration.conftest import Start
from tests.integration.summarize.summaries import PASS, Bench, Call, Followed, bench, chunks
from tests.scripted_endpoint.author import Lie, tell, write
from tests.scripted_endpoint.script import Script

DOCUMENT = chunks(29)  # 5 batches, a merge of four, and the last one
ASKED = pb.SummarizeRequest(document=DOCUMENT, include_draft=True)
LAST = "Merge them now into one comprehensive text"  # stands in the prompt of the last merge alone


class Author:
    """Writes as `write` does, and keeps the answers to the last merges; the first of them may be another text."""

    def __init__(self, first: Callable[[str], str] = lambda text: text) -> None:
        self.first = first
        self.last_texts: list[str] = []

    def __call__(self, prompt: str, max_tokens: int) -> str:
        text = write(prompt, max_tokens)
        if LAST in prompt:
            text = text if self.last_texts else self.first(text)
            self.last_texts.append(text)
        return text


async def read_along(served: Bench, call: Call) -> Followed:
    """Follows a run whose answers stop in the middle until their draft is read: a reader who is late misses pieces."""
    gate = served.endpoint.piece_gate
    gate.clear()
    followed = Followed([])
    async for response in call:
        followed.events.append(response.event)
        if response.event.HasField("draft"):
            gate.set()
    return followed


def drafts(followed: Followed) -> list[pb.SummaryDraft]:
    return [event.draft for event in followed.events if event.HasField("draft")]


def texts_of(pieces: Sequence[pb.SummaryDraft]) -> list[tuple[str, bool]]:
    """Joins the pieces: each text that was begun, and whether it is checked."""
    texts: list[tuple[str, bool]] = []
    for piece in pieces:
        if piece.begins_anew:
            texts.append(("", piece.is_checked))
        text, is_checked = texts.pop()
        assert piece.is_checked == is_checked
        texts.append((text + piece.text, is_checked))
    return texts


def assert_read(followed: Followed, *written: str) -> None:
    """A reader has the beginning of each text that was written, perhaps not its end, then the checked one."""
    *begun, last = texts_of(drafts(followed))
    assert last == (followed.summary.text, True)
    assert len(begun) == len(written)
    for (text, is_checked), whole in zip(begun, written, strict=True):
        assert not is_checked
        assert text
        assert whole.startswith(text)


async def test_the_last_text_is_read_while_it_is_written_and_then_checked(start: Start) -> None:
    author = Author()
    async with bench(start, Script(replies=(PASS,), author=author)) as served:
        served.endpoint.piece_gate.clear()  # answers in pieces stop in the middle
        events = aiter(served.stub.Summarize(ASKED))
        seen = [(await anext(events)).event]
        while not seen[-1].HasField("draft"):
            seen.append((await anext(events)).event)
        assert served.endpoint.log.in_flight == 1  # the call is not answered
        first = seen[-1].draft
        served.endpoint.piece_gate.set()
        followed = Followed([*seen, *[response.event async for response in events]])
    (whole,) = author.last_texts
    assert (first.iteration, first.begins_anew, first.is_checked) == (1, True, False)
    assert first.text
    assert whole.startswith(first.text)
    assert_read(followed, whole)
    assert [kind for kind in followed.kinds if kind in ("draft", "layers", "reflect")][-3:] == [
        *("draft", "layers", "reflect")
    ]


async def test_an_answer_that_is_refused_takes_its_draft_back(start: Start) -> None:
    author = Author(lambda text: tell(Lie.REFUSAL, text, []))
    async with bench(start, Script(replies=(PASS,), author=author)) as served:
        followed = await read_along(served, served.stub.Summarize(ASKED))
    refused, _ = author.last_texts
    assert_read(followed, *author.last_texts)
    assert refused not in followed.summary.text


async def test_a_second_iteration_has_a_draft_of_its_own(start: Start) -> None:
    has_read = False  # the checked text of the first iteration

    def author(prompt: str, max_tokens: int) -> str:
        if "Reply PASS or FAIL" not in prompt:
            return write(prompt, max_tokens)
        if not has_read:
            served.endpoint.gate.clear()
        return 'FAIL: "bolt" lacks a value.'

    followed = Followed([])
    async with bench(start, Script(author=author)) as served:
        served.endpoint.piece_gate.clear()
        async for response in served.stub.Summarize(ASKED):
            followed.events.append(response.event)
            if not response.event.HasField("draft"):
                continue
            if response.event.draft.is_checked:
                has_read = True
                served.endpoint.piece_gate.clear()
                served.endpoint.gate.set()
            else:
                served.endpoint.piece_gate.set()
    pieces = drafts(followed)
    assert [(piece.iteration, piece.is_checked) for piece in pieces if piece.begins_anew] == [
        *((1, False), (1, True), (2, False), (2, True))
    ]
    assert [piece.iteration for piece in pieces] == sorted(piece.iteration for piece in pieces)


async def test_a_draft_that_is_cut_off_begins_anew_when_the_summary_goes_on(start: Start) -> None:
    author = Author()
    async with bench(start, Script(replies=(PASS,), author=author)) as served:
        served.endpoint.piece_gate.clear()
        events = aiter(call := served.stub.Summarize(ASKED))
        summary_id = (await anext(events)).event.accepted.summary_id
        while not (await anext(events)).event.HasField("draft"):
            pass
        call.cancel()
        await served.endpoint.log.until(lambda log: log.in_flight == 0)
        served.endpoint.piece_gate.set()
        followed = await resumed(served, summary_id)
        assert served.endpoint.log.left == 1
        assert set(served.endpoint.log.answered.values()) == {1}
    assert_read(followed, author.last_texts[-1])
    assert author.last_texts[0] == author.last_texts[-1]


async def resumed(served: Bench, summary_id: str) -> Followed:
    request = pb.ResumeSummaryRequest(summary_id=summary_id, include_draft=True)
    while True:
        try:
            return await read_along(served, served.stub.ResumeSummary(request))
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.ABORTED:
                raise


async def test_somebody_who_watches_a_job_may_read_along(start: Start) -> None:
    async with bench(start) as served:
        served.endpoint.gate.clear()
        submitted = await served.stub.SubmitSummary(
            pb.SubmitSummaryRequest(request=pb.SummarizeRequest(document=DOCUMENT))
        )
        await served.endpoint.log.until(lambda log: log.in_flight > 0)
        request = pb.WatchSummaryRequest(summary_id=submitted.summary_id, include_draft=True)
        other = served.stub.WatchSummary(pb.WatchSummaryRequest(summary_id=submitted.summary_id))
        watched = aiter(served.stub.WatchSummary(request))
        await anext(watched)
        served.endpoint.gate.set()
        followed = await read_along(served, watched)
        assert drafts(Followed([response.event async for response in other])) == []
    assert [is_checked for _, is_checked in texts_of(drafts(followed))] == [False, True]
