"""The critic sees what the document says of terms that its summary lacks."""

import json
from pathlib import Path

from pipeline.llm.chat_model import ChatRequest
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, summarizer_in
from tests.unit.pipeline.summarize.fake_chat import FakeChat


async def critic_prompt(folder: Path, options: SummarizeOptions) -> str:
    """Returns what the critic is asked of a summary that keeps the first pump alone."""

    def answer(request: ChatRequest) -> str:
        if request.json_schema is not None:
            return json.dumps({"topics": ["pumps", "valves", "filters", "safety", "bars"]})
        return "PASS" if "Reply PASS" in request.messages[1].content else "Pump P-0 runs at 0 bar."

    chat = FakeChat(answer_to=answer)
    writer = LlmWriter(chat, LlmWriterConfig())
    async with summarizer_in(folder) as summarizer:
        await read_all(summarizer.stream(numbered_document(29), writer=writer, options=options))
    return next(request.messages[1].content for request in chat.requests if "PASS" in request.messages[1].content)


async def test_passages_with_lost_terms_are_shown_in_the_order_of_the_document(tmp_path: Path) -> None:
    lost, _, judged = (await critic_prompt(tmp_path, SummarizeOptions())).partition("The text to judge:")
    assert "Pump P-7 runs at 7 bar." in lost
    assert "Pump P-0 runs at 0 bar." not in lost
    assert lost.index("Pump P-7 ") < lost.index("Pump P-8 ")
    assert "Pump P-0 runs at 0 bar." in judged
    assert 1 < lost.count("runs at") <= 24


async def test_what_a_caller_has_left_out_on_purpose_is_not_shown(tmp_path: Path) -> None:
    for options in (SummarizeOptions(target_words=20), SummarizeOptions(focus="the first pump")):
        assert "Pump P-7 runs" not in await critic_prompt(tmp_path, options)
