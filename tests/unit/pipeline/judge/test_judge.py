"""The whole judgement with fakes: events, frameworks, refusals, chat models."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pipeline.errors import InvalidInputError
from pipeline.judge.judge import Judge, JudgeCaches
from pipeline.judge.judgement import EvidenceReady, Judgement, MetricReady
from pipeline.judge.request import JudgeRequest, MetricToolScore
from pipeline.judge.result import Framework, MetricName, MetricStatus
from pipeline.llm.chat_model import ChatRequest, LlmUsage
from tests.fakes_pipeline import WatchedTokenizer, fake_models
from tests.unit.pipeline.judge.judging import JUDGE, REQUEST, SOURCE, SUMMARY, TWIN, ULTRA, Fakes, without_times
from tests.unit.pipeline.summarize.fake_chat import FakeChat


async def test_a_stream_sends_evidence_then_all_metrics_in_the_strict_order_then_the_judgement() -> None:
    first, *metrics, last = await Fakes().events()
    assert isinstance(first, EvidenceReady)
    assert isinstance(last, Judgement)
    sent = [(event.framework, event.metric) for event in metrics if isinstance(event, MetricReady)]
    assert [(framework, metric.name) for framework, metric in sent] == [
        (framework, name) for framework in (TWIN, JUDGE, ULTRA) for name in MetricName
    ]
    assert [metric for _, metric in sent] == [metric for result in last.frameworks for metric in result.metrics]
    assert first.evidence is last.evidence


async def test_unary_and_stream_say_the_same() -> None:
    *_, last = await Fakes().events()
    assert isinstance(last, Judgement)
    assert without_times(last) == without_times(await Fakes().judge())


async def test_all_frameworks_share_one_table_and_no_pair_is_asked_twice() -> None:
    fakes = Fakes()
    judgement = await fakes.judge(replace(REQUEST, frameworks=(TWIN, JUDGE)))
    (of_claims, of_facts), (_,) = fakes.entailment.calls, fakes.embedder.calls
    pairs = [*of_claims, *of_facts]
    assert len(pairs) == len(set(pairs)) == judgement.table.pair_count


async def test_bad_input_is_refused_before_any_model_runs() -> None:
    fakes = Fakes()
    with pytest.raises(InvalidInputError) as caught:
        await fakes.judge(replace(REQUEST, summary=" "))
    assert caught.value.field == "summary"
    with pytest.raises(InvalidInputError):
        await fakes.events(replace(REQUEST, source=""))
    assert (fakes.entailment.calls, fakes.embedder.calls) == ([], [])


async def test_a_summary_longer_than_its_source_is_judged_with_a_note() -> None:
    judgement = await Fakes().judge(JudgeRequest("The agency raised its licence fees.", SUMMARY, tuple(Framework)))
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
    assert (chat.requests, judgement.language_model, judgement.degraded) == ([], None, False)
    assert judgement.request_hash == (await Fakes().judge(request)).request_hash


async def test_a_useless_chat_model_costs_nothing_but_a_mark_and_is_not_cached() -> None:
    caches, fakes, chat = JudgeCaches(), Fakes(), FakeChat("no JSON at all")
    judge = Judge(caches=caches)
    judgement = await fakes.judge(judge=judge, chat_model=chat)
    plain = await Fakes().judge()
    assert chat.requests
    assert (judgement.degraded, len(caches.judgements)) == (True, 0)
    assert (judgement.language_model or "").startswith("fake-chat, prompts ")
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
    caches, chat = JudgeCaches(), FakeChat(answer_to=help_well)
    helped = await Fakes().judge(judge=Judge(caches=caches), chat_model=chat)
    plain = await Fakes().judge()
    assert (helped.degraded, helped.notes, len(caches.judgements)) == (False, (), 1)
    author = helped.language_model or ""
    assert author.startswith("fake-chat, prompts ")
    asked = len(chat.requests)
    assert helped.language_model_usage == LlmUsage(asked, 10 * asked, 5 * asked)
    assert plain.language_model_usage == LlmUsage()
    assert helped[TWIN] == plain[TWIN]
    assert helped.table.judge_key_points != plain.table.judge_key_points
    assert helped[JUDGE][MetricName.COVERAGE].inputs["question_author"] == author
    assert helped[JUDGE][MetricName.COVERAGE] != plain[JUDGE][MetricName.COVERAGE]
    assert helped[ULTRA] != plain[ULTRA]


async def test_cpu_work_runs_on_the_executor() -> None:
    tokenizer = WatchedTokenizer()
    with ThreadPoolExecutor(1, thread_name_prefix="judge") as executor:
        await Judge(executor=executor).judge(REQUEST, fake_models(tokenizer=tokenizer))
    assert tokenizer.threads == {"judge_0"}


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("🙂🙂🙂 a", "🙂 b"),
        ("... 1", "!!! 2"),
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
    judgement = await Fakes().judge(JudgeRequest(source, summary, tuple(Framework)))
    without_score = {MetricStatus.ERROR, MetricStatus.UNSUPPORTED_LANGUAGE, MetricStatus.NO_STATEMENT}
    for result in judgement.frameworks:
        for metric in result.metrics:
            is_missing = metric.status in without_score
            assert (metric.score is None) == is_missing == (metric.error is not None)
            assert metric.error is None or not metric.error.startswith("malformed_metric")
            assert metric.score is None or 0 <= metric.score <= 10
            for passage in metric.evidence:
                text = {"source": source, "summary": summary}[passage.text_id]
                assert text[passage.start : passage.end] == passage.quote
