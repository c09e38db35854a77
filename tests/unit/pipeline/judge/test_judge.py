"""The whole judgement with fakes: events, sharing, caching, cancellation."""

import asyncio
import json
import logging
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pipeline.errors import InvalidInputError, ModelOutputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.events import EvidenceReady, JudgeEvent, MetricReady
from pipeline.judge.framework import Framework
from pipeline.judge.judge import Judge
from pipeline.judge.judgement import Judgement
from pipeline.judge.judgement_cache import JudgementCache
from pipeline.judge.metric import MetricName, MetricStatus
from pipeline.judge.request import JudgeRequest, MetricToolScore
from pipeline.llm.chat_model import ChatRequest
from pipeline.protocols import Float32
from tests.fakes_pipeline import BagOfWordsEmbedder, OverlapEntailment, WordTokenizer
from tests.unit.pipeline.summarize.fake_chat import FakeChat

TWIN, JUDGE, ULTRA = Framework
SOURCE = (
    "The agency raised its licence fees by 12 percent on Tuesday. Ann Lee, who leads the farmers' union, objected. "
    "She said that small farms could not pay. The agency's director, Bob Ray, answered that costs had doubled since "
    "2019. A public hearing will be held in Springfield on 4 May. The new fees take effect in July. "
    "Two council members asked for a delay of one year. The council votes next week."
)
SUMMARY = (
    "The agency raised its licence fees by 12 percent. Ann Lee objected. A public hearing will be held in Springfield."
)
REQUEST = JudgeRequest(SOURCE, SUMMARY)


class GatedEntailment(OverlapEntailment):
    """Answers when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.cancelled = False

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        self.asked.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return await super().entail(pairs)


class Fakes:
    """The models of one test."""

    def __init__(self, entailment: OverlapEntailment | None = None) -> None:
        self.entailment = entailment or OverlapEntailment()
        self.embedder = BagOfWordsEmbedder()

    async def judge(
        self, request: JudgeRequest = REQUEST, judge: Judge | None = None, chat_model: FakeChat | None = None
    ) -> Judgement:
        return await (judge or Judge()).judge(
            request,
            entailment=self.entailment,
            embedder=self.embedder,
            tokenizer=WordTokenizer(),
            chat_model=chat_model,
        )

    async def events(self, request: JudgeRequest = REQUEST, judge: Judge | None = None) -> list[JudgeEvent]:
        stream = (judge or Judge()).stream(
            request, entailment=self.entailment, embedder=self.embedder, tokenizer=WordTokenizer()
        )
        return [event async for event in stream]


def without_times(judgement: Judgement) -> Judgement:
    """Leaves out what differs from run to run: times, and whether the answer was kept."""
    table = replace(judgement.table, timings=replace(judgement.table.timings, **dict.fromkeys(TIMES, 0.0)))
    timings = replace(judgement.timings, total_ms=0, evidence_ms=0, scoring_ms=0)
    return replace(judgement, table=table, timings=timings, cached=False)


TIMES = ("total_ms", "reading_ms", "embedding_ms", "proposals_ms", "nli_ms", "assembly_ms")


async def test_a_stream_sends_evidence_then_all_metrics_in_the_strict_order_then_the_judgement() -> None:
    first, *metrics, last = await Fakes().events()
    assert isinstance(first, EvidenceReady)
    assert isinstance(last, Judgement)
    sent = [(event.framework, event.metric) for event in metrics if isinstance(event, MetricReady)]
    assert [(framework, metric.name) for framework, metric in sent] == [
        (framework, name) for framework in (TWIN, JUDGE, ULTRA) for name in MetricName
    ]
    assert [metric for _, metric in sent] == [metric for result in last.frameworks for metric in result.metrics]
    assert first.table is last.table


async def test_unary_and_stream_say_the_same() -> None:
    *_, last = await Fakes().events()
    assert isinstance(last, Judgement)
    assert without_times(last) == without_times(await Fakes().judge())


async def test_all_frameworks_share_one_table_and_each_model_is_asked_once() -> None:
    fakes = Fakes()
    judgement = await fakes.judge(replace(REQUEST, frameworks=(TWIN, JUDGE)))
    assert (len(fakes.entailment.calls), len(fakes.embedder.calls)) == (1, 1)
    pairs = fakes.entailment.calls[0]
    assert len(pairs) == len(set(pairs)) == judgement.table.pairs.scored_pair_count


@pytest.mark.parametrize("framework", Framework)
async def test_a_framework_says_the_same_alone_as_with_the_others(framework: Framework) -> None:
    together = await Fakes().judge()
    alone = await Fakes().judge(replace(REQUEST, frameworks=(framework,)))
    assert alone.frameworks == (together[framework],)
    with pytest.raises(KeyError):
        alone[next(other for other in Framework if other is not framework)]


async def test_a_summary_of_the_sources_words_beats_one_of_others() -> None:
    invented = "Ministers resigned after floods destroyed forty bridges near Paris. Markets fell in Tokyo overnight."
    good = await Fakes().judge()
    bad = await Fakes().judge(replace(REQUEST, summary=invented))
    for framework in Framework:
        for name in (MetricName.COVERAGE, MetricName.HALLUCINATION, MetricName.RELEVANCE):
            better, worse = good[framework][name].score, bad[framework][name].score
            assert better is not None
            assert worse is not None
            assert better > worse


async def test_five_runs_one_after_another_or_at_once_are_identical() -> None:
    expected = without_times(await Fakes().judge())
    for _ in range(4):
        assert without_times(await Fakes().judge()) == expected
    judge, fakes = Judge(), Fakes()
    others = [replace(REQUEST, summary=f"{SUMMARY} The council votes in {index} weeks.") for index in range(4)]
    mixed = await asyncio.gather(
        *(fakes.judge(request, judge) for request in (others[0], REQUEST, others[1], REQUEST, *others[2:], REQUEST))
    )
    assert [without_times(mixed[index]) for index in (1, 3, 6)] == [expected] * 3


async def test_bad_input_is_refused_before_any_model_runs() -> None:
    fakes = Fakes()
    with pytest.raises(InvalidInputError) as caught:
        await fakes.judge(replace(REQUEST, summary=" "))
    assert caught.value.field == "summary"
    with pytest.raises(InvalidInputError):
        await fakes.events(replace(REQUEST, source=""))
    assert (fakes.entailment.calls, fakes.embedder.calls) == ([], [])


async def test_a_summary_longer_than_its_source_is_judged_with_a_note() -> None:
    judgement = await Fakes().judge(JudgeRequest("The agency raised its licence fees.", SUMMARY))
    assert judgement.notes[0] == "the summary is longer than its source"
    assert judgement[TWIN][MetricName.HALLUCINATION].status is MetricStatus.SCORED
    assert (await Fakes().judge()).notes == ()


async def test_the_callers_tools_move_ultra_alone_and_nan_is_noted() -> None:
    tools = (
        MetricToolScore(MetricName.COVERAGE, "mine", 1.0),
        MetricToolScore(MetricName.ALIGNMENT, "broken", float("nan")),
    )
    plain, tooled = await Fakes().judge(), await Fakes().judge(replace(REQUEST, tool_scores=tools))
    assert (tooled[TWIN], tooled[JUDGE]) == (plain[TWIN], plain[JUDGE])
    before, after = plain[ULTRA][MetricName.COVERAGE].score, tooled[ULTRA][MetricName.COVERAGE].score
    assert before is not None
    assert after is not None
    assert after < before
    assert tooled[ULTRA][MetricName.ALIGNMENT] == plain[ULTRA][MetricName.ALIGNMENT]
    assert "tool_scores[1].score is NaN and was left out" in tooled.notes


async def test_twin_lock_alone_asks_no_chat_model_and_does_not_depend_on_it() -> None:
    chat = FakeChat("no JSON at all")
    request = replace(REQUEST, frameworks=(TWIN,))
    judgement = await Fakes().judge(request, chat_model=chat)
    assert (chat.requests, judgement.llm, judgement.degraded) == ([], None, False)
    assert judgement.request_hash == (await Fakes().judge(request)).request_hash


async def test_a_useless_chat_model_costs_nothing_but_a_mark_and_is_not_cached() -> None:
    cache, fakes, chat = JudgementCache(), Fakes(), FakeChat("no JSON at all")
    judge = Judge(cache=cache)
    judgement = await fakes.judge(judge=judge, chat_model=chat)
    plain = await Fakes().judge()
    assert chat.requests
    assert (judgement.degraded, judgement.llm, len(cache)) == (True, "fake-chat", 0)
    assert judgement.notes
    assert (judgement[TWIN], judgement[JUDGE]) == (plain[TWIN], plain[JUDGE])
    assert all(metric.score is not None for metric in judgement[ULTRA].metrics)
    assert judgement.request_hash != plain.request_hash


def help_well(request: ChatRequest) -> str:
    """Writes what a good model might: the last statements matter most, their first and last words are asked for."""
    asked = request.messages[-1].content
    listed = re.search(r"\[\n\{.*?\n\]", asked, re.DOTALL)
    title = (request.json_schema or {}).get("title")
    if listed is None or title not in ("questions", "answers"):
        return json.dumps({"level": "B", "reason": "Most of it stands there.", "quotes": []})
    items = json.loads(listed.group())
    if title == "answers":
        return json.dumps({"answers": [{"question": item["number"], "quote": None} for item in items]})
    questions = [
        {"id": item["id"], "question": "What stands there?", "answer": " ".join(words)}
        for item in items
        for words in (item["text"].split()[:2], item["text"].split()[-2:])
    ]
    points = {"key_points": [item["id"] for item in items][-4:]} if '"key_points"' in asked else {}
    return json.dumps({**points, "questions": questions[-6:]})


async def test_a_chat_model_helps_judge_lock_and_ultra_and_never_moves_twin_lock() -> None:
    cache, chat = JudgementCache(), FakeChat(answer_to=help_well)
    helped = await Fakes().judge(judge=Judge(cache=cache), chat_model=chat)
    plain = await Fakes().judge()
    assert (helped.llm, helped.degraded, helped.notes, len(cache)) == ("fake-chat", False, (), 1)
    assert helped[TWIN] == plain[TWIN]
    assert helped.table.judge_key_points != plain.table.judge_key_points
    assert helped[JUDGE][MetricName.COVERAGE].inputs["qag_author"] == "fake-chat"
    assert helped[JUDGE][MetricName.COVERAGE] != plain[JUDGE][MetricName.COVERAGE]
    assert helped[ULTRA] != plain[ULTRA]


async def test_a_request_that_comes_again_asks_no_model_and_streams_the_same_events() -> None:
    fakes = Fakes()
    judge = Judge(cache=JudgementCache())
    first = await fakes.events(judge=judge)
    asked = len(fakes.entailment.calls)
    second = await fakes.events(judge=judge)
    assert len(fakes.entailment.calls) == asked
    assert second[:-1] == first[:-1]
    assert isinstance(second[-1], Judgement)
    assert isinstance(first[-1], Judgement)
    assert (first[-1].cached, second[-1].cached) == (False, True)
    other = await fakes.judge(replace(REQUEST, frameworks=(TWIN,)), judge)
    assert not other.cached


async def test_other_settings_do_not_share_a_judgement() -> None:
    cache, fakes = JudgementCache(), Fakes()
    await fakes.judge(judge=Judge(cache=cache))
    jaccard = JudgeConfig().with_overrides({"lock": {"relevance_mode": "jaccard"}})
    judgement = await fakes.judge(judge=Judge(jaccard, cache=cache))
    assert not judgement.cached
    assert judgement[TWIN][MetricName.RELEVANCE].inputs["relevance_mode"] == "jaccard"


async def test_equal_streams_at_once_share_the_work_and_all_send_everything() -> None:
    entailment = GatedEntailment()
    fakes, judge = Fakes(entailment), Judge(cache=JudgementCache())
    request = replace(REQUEST, frameworks=(TWIN,))
    streams = [asyncio.create_task(fakes.events(request, judge)) for _ in range(3)]
    await entailment.asked.wait()
    entailment.gate.set()
    first, *others = await asyncio.gather(*streams)
    assert len(entailment.calls) == 1
    assert [len(events) for events in (first, *others)] == [7, 7, 7]
    assert all(events[:-1] == first[:-1] for events in others)


async def test_closing_a_stream_ends_its_work() -> None:
    entailment = GatedEntailment()
    stream = Judge().stream(REQUEST, entailment=entailment, embedder=BagOfWordsEmbedder(), tokenizer=WordTokenizer())
    reading = asyncio.create_task(anext(stream))
    await entailment.asked.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await stream.aclose()
    assert entailment.cancelled


async def test_a_reader_that_stops_holds_up_nobody_else() -> None:
    fakes, judge = Fakes(), Judge(cache=JudgementCache())
    slow = judge.stream(REQUEST, entailment=fakes.entailment, embedder=fakes.embedder, tokenizer=WordTokenizer())
    assert isinstance(await anext(slow), EvidenceReady)
    assert (await fakes.judge(judge=judge)).cached  # though the stream has not been read to its end
    await slow.aclose()


async def test_a_models_failure_ends_judgement_and_stream_and_is_not_kept() -> None:
    class Broken(OverlapEntailment):
        async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
            raise ModelOutputError("no numbers")

    cache = JudgementCache()
    judge = Judge(cache=cache)
    with pytest.raises(ModelOutputError):
        await Fakes(Broken()).judge(judge=judge)
    with pytest.raises(ModelOutputError):
        await Fakes(Broken()).events(judge=judge)
    assert len(cache) == 0
    assert not (await Fakes().judge(judge=judge)).cached


async def test_cpu_work_runs_on_the_executor() -> None:
    threads: set[str] = set()

    class WatchedTokenizer(WordTokenizer):
        def offsets(self, text: str) -> list[tuple[int, int]]:
            threads.add(threading.current_thread().name)
            return super().offsets(text)

    with ThreadPoolExecutor(1, thread_name_prefix="judge") as executor:
        await Judge(executor=executor).judge(
            REQUEST, entailment=OverlapEntailment(), embedder=BagOfWordsEmbedder(), tokenizer=WatchedTokenizer()
        )
    assert threads == {"judge_0"}


async def test_the_log_names_scores_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="pipeline"):
        await Fakes().judge()
    assert "twin_lock=" in caplog.text
    assert "agency" not in caplog.text


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("🙂🙂🙂", "🙂"),
        ("...", "!!!"),
        (SOURCE, "Fees."),
        (SOURCE, "費用が上がりました。公聴会が開かれます。"),
        ("費用が上がりました。公聴会が開かれます。", "費用が上がりました。"),
        ("One.", "One."),
        (SOURCE, "Fees; costs; farms;\nvotes."),
        (SOURCE, "- Fees rose\n- Farms object\n\n| a | b |\n|---|---|"),
        ("x" * 5_000, "y" * 400),
    ],
)
async def test_odd_texts_have_a_status_for_every_metric(source: str, summary: str) -> None:
    judgement = await Fakes().judge(JudgeRequest(source, summary))
    for result in judgement.frameworks:
        for metric in result.metrics:
            assert (metric.score is None) == (metric.status is MetricStatus.ERROR) == (metric.error is not None)
            assert metric.error is None or not metric.error.startswith("malformed_metric")
            assert metric.score is None or 0 <= metric.score <= 10
            for passage in metric.evidence:
                text = {"source": source, "summary": summary}[passage.text_id]
                assert text[passage.start : passage.end] == passage.quote
