"""Texts that are not English get a status and no score."""

import pytest

from pipeline.judge.judge import Judge, JudgeCaches
from pipeline.judge.judgement import Judgement, MetricReady
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework, MetricName, MetricStatus
from tests.fakes_pipeline import BagOfWordsEmbedder, OverlapEntailment, fake_models
from tests.unit.pipeline.reading.test_language import FOREIGN
from tests.unit.pipeline.summarize.fake_chat import FakeChat

ENGLISH = "The bridge will be closed for nine months. The mayor says that the repairs cost 4.2 million dollars."
ERRORS = {
    (True, False): "unsupported_language: source not English",
    (False, True): "unsupported_language: summary not English",
    (True, True): "unsupported_language: source and summary not English",
}


@pytest.mark.parametrize("language", FOREIGN)
@pytest.mark.parametrize("is_foreign", ERRORS)
async def test_a_foreign_text_is_not_scored_and_no_model_reads_it(language: str, is_foreign: tuple[bool, bool]) -> None:
    source, summary = (FOREIGN[language] if foreign else ENGLISH for foreign in is_foreign)
    entailment, embedder, chat = OverlapEntailment(), BagOfWordsEmbedder(), FakeChat("")
    judgement = await Judge().judge(
        JudgeRequest(source, summary, tuple(Framework)), fake_models(entailment, embedder, chat=chat)
    )
    assert (entailment.calls, embedder.calls, chat.requests) == ([], [], [])
    assert judgement.evidence is None
    assert (judgement.claim_count, judgement.worst_claim_score, judgement.degraded) == (0, None, False)
    for result in judgement.frameworks:
        assert result.mean_score is None
        assert {metric.status for metric in result.metrics} == {MetricStatus.UNSUPPORTED_LANGUAGE}
        assert {metric.score for metric in result.metrics} == {None}
        assert dict(result.objects) == {name: {"error": ERRORS[is_foreign]} for name in MetricName}


@pytest.mark.parametrize("is_cached", [False, True])
async def test_a_stream_of_a_foreign_text_has_metrics_without_evidence(*, is_cached: bool) -> None:
    judge, request = Judge(caches=JudgeCaches()), JudgeRequest(ENGLISH, FOREIGN["Spanish"])
    if is_cached:
        await judge.judge(request, fake_models())
    *metrics, last = [event async for event in judge.stream(request, fake_models())]
    assert [event.metric.name for event in metrics if isinstance(event, MetricReady)] == list(MetricName)
    assert len(metrics) == len(MetricName)
    assert isinstance(last, Judgement)
    assert last.is_cached is is_cached


async def test_english_texts_are_scored() -> None:
    judgement = await Judge().judge(JudgeRequest(ENGLISH, ENGLISH), fake_models())
    assert judgement.evidence is not None
    assert MetricStatus.UNSUPPORTED_LANGUAGE not in {metric.status for metric in judgement.frameworks[0].metrics}
