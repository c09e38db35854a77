"""The judge's prompts with a real, if very small, language model: it gives what can be read, not what is right."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pipeline.assess.config import SynthesisConfig
from pipeline.assess.synthesizer import Synthesizer
from pipeline.judge.config import ProposalConfig
from pipeline.judge.language_model.level_judge import LlmLevelJudge
from pipeline.judge.language_model.proposals import LlmProposals
from pipeline.judge.result import MetricName
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel
from tests.local_llm import MODEL, served_model
from tests.unit.pipeline.assess.pictures import encoded, scene
from tests.unit.pipeline.assess.questions import SCORING
from tests.unit.pipeline.judge.language_model.test_llm_level_judge import TABLE
from tests.unit.pipeline.judge.language_model.test_llm_proposals import TASK

# Short answers and no second tries: this model writes a few tokens a second next to other work, and often too many.
QUICK = ProposalConfig(max_attempts=1, question_tokens=160, level_tokens=100)
synthesizer = Synthesizer(SynthesisConfig(max_attempts=1, answer_tokens=120))

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def config() -> Iterator[LlmConfig]:
    """Settings of a server that runs for this module."""
    with served_model(4096) as base_url:
        yield LlmConfig(base_url=base_url, model=MODEL, context_tokens=4096)


async def test_it_scores_and_says_why(config: LlmConfig) -> None:
    async with Endpoint(config) as endpoint:
        chat = OpenAiChatModel(endpoint)
        first = await synthesizer.synthesize(SCORING, chat_model=chat)
        again = await synthesizer.synthesize(SCORING, chat_model=chat)
    assert first.final_answer in tuple("ABCDE")
    assert first.quality_reasoning
    assert again.final_answer == first.final_answer


async def test_it_cannot_see_and_the_answer_says_so(config: LlmConfig) -> None:
    async with Endpoint(config) as endpoint:
        request = replace(SCORING, images=(encoded(scene()),))
        synthesis = await synthesizer.synthesize(request, chat_model=OpenAiChatModel(endpoint))
    assert any(note.startswith("images_refused") for note in synthesis.notes)


async def test_it_grades_in_both_orders_of_the_letters(config: LlmConfig) -> None:
    async with Endpoint(config) as endpoint:
        reading = await LlmLevelJudge(OpenAiChatModel(endpoint), QUICK).read_level(MetricName.HALLUCINATION, TABLE)
    assert sum(reading.probabilities) == pytest.approx(1)
    assert len(reading.evidence) <= reading.claimed_span_count


async def test_its_proposals_are_proposals_or_notes(config: LlmConfig) -> None:
    async with Endpoint(config) as endpoint:
        proposed = await LlmProposals(OpenAiChatModel(endpoint), QUICK).propose(TASK)
    assert proposed.coverage_questions or any(note.startswith("coverage") for note in proposed.notes)
    assert proposed.claim_questions or any(note.startswith("claim") for note in proposed.notes)
