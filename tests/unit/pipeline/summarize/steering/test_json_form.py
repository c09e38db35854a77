"""A summary is given as JSON too, by a schema of the caller's."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.llm.chat_model import ChatRequest
from pipeline.llm.errors import SchemaMismatchError
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.result import SummaryResult, WarningCode
from pipeline.summarize.steering.json_form import parse_schema, stated_values
from pipeline.summarize.storage.records import SummaryStatus
from tests.unit.pipeline.summarize.documents import full_plan, numbered_document, summary_of
from tests.unit.pipeline.summarize.fake_chat import FakeChat

PUMP = {"type": "object", "properties": {"bars": {"type": "string"}, "kind": {"enum": ["pump", "valve"]}}}
OPTIONS = SummarizeOptions(json_schema=json.dumps(PUMP))
TOPICS = json.dumps({"topics": ["pump P-0", "pump P-1", "pump P-2", "0 bar", "1 bar"]})
DOCUMENT = numbered_document(3)
TEXT = "\n".join(f"Pump P-{number} runs at {number} bar." for number in range(3))


class FormChat(FakeChat):
    """Extracts the document, and fills the form with the given values, the last one again and again."""

    def __init__(self, *bars: str | None) -> None:
        super().__init__(answer_to=self._answer)
        self.forms: list[ChatRequest] = []
        self._bars = list(bars)

    def _answer(self, request: ChatRequest) -> str:
        if request.json_schema is None:
            return "PASS" if "Reply PASS" in request.messages[1].content else TEXT
        if request.json_schema != PUMP:
            return TOPICS
        self.forms.append(request)
        bars = self._bars.pop(0) if len(self._bars) > 1 else self._bars[0]
        if bars is None:
            raise SchemaMismatchError("the answer is not the JSON asked for")
        return json.dumps({"bars": bars, "kind": "valve"})


async def summary_by(chat: FormChat, folder: Path, rules: TrustConfig | None = None) -> SummaryResult:
    writer = GatedWriter(LlmWriter(chat, LlmWriterConfig()), TrustGate(rules or TrustConfig()))
    return await summary_of(folder, DOCUMENT, writer, options=OPTIONS)


async def test_a_summary_has_its_text_and_its_json(tmp_path: Path) -> None:
    chat = FormChat("2 bar")
    result = await summary_by(chat, tmp_path)
    assert json.loads(result.json) == {"bars": "2 bar", "kind": "valve"}
    assert result.text == TEXT
    assert TEXT in chat.forms[0].messages[1].content
    plan = full_plan(DOCUMENT, LlmWriter(chat, LlmWriterConfig()), json_schema=OPTIONS.json_schema)
    assert result.calls_done == plan.calls() == len(chat.requests) == 4


async def test_a_value_that_the_summary_does_not_have_is_asked_for_once_more(tmp_path: Path) -> None:
    chat = FormChat("99 bar", "1 bar")
    result = await summary_by(chat, tmp_path)
    assert (json.loads(result.json)["bars"], len(chat.forms)) == ("1 bar", 2)
    assert "99 bar" in chat.forms[1].messages[1].content
    assert WarningCode.JSON_FLAWED not in {warning.code for warning in result.warnings}


@pytest.mark.parametrize("asks_again", [True, False])
async def test_what_stays_wrong_is_a_warning(tmp_path: Path, *, asks_again: bool) -> None:
    chat = FormChat("99 bar")
    result = await summary_by(chat, tmp_path, TrustConfig(asks_again=asks_again))
    assert (result.status, len(chat.forms)) == (SummaryStatus.DONE, 1 + asks_again)
    assert WarningCode.JSON_FLAWED in {warning.code for warning in result.warnings}


async def test_json_that_does_not_fit_is_asked_for_once_more(tmp_path: Path) -> None:
    chat = FormChat(None, "1 bar")
    assert json.loads((await summary_by(chat, tmp_path)).json)["bars"] == "1 bar"
    assert "is not the JSON asked for" in chat.forms[1].messages[1].content


async def test_a_model_that_cannot_keep_to_the_schema_ends_the_summary_with_its_text(tmp_path: Path) -> None:
    result = await summary_by(FormChat(None), tmp_path)
    assert result.failure is not None
    assert (result.status, result.failure.kind) == (SummaryStatus.FAILED, "SchemaMismatchError")
    assert (result.text, result.json) == (TEXT, "")


@pytest.mark.parametrize(
    "schema",
    [
        "no JSON",
        "[]",
        '{"type": "string"}',
        '{"type": "object", "$ref": "http://127.0.0.1/secret"}',
        '{"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}}',
        '{"type": "object", "properties": {"a": {"items": {"anyOf": [{"$ref": "#"}]}}}}',
        '{"type": "object", "properties": {"a": {"type": "strong"}}}',
        '{"type": "object", "properties": []}',
        '{"type":"object","properties":{"a":' * 21 + "{}" + "}}" * 21,
        "[" * 10_000,
        '{"type": "object", "maxProperties": ' + "9" * 309 + "}",
        " " * 20_001,
    ],
)
def test_a_schema_that_cannot_be_held_to_is_refused(schema: str) -> None:
    with pytest.raises(ValidationError, match="json_schema"):
        SummarizeOptions(json_schema=schema)


def test_values_are_stated_in_order_as_they_stand_and_given_words_are_not() -> None:
    schema = parse_schema(json.dumps(PUMP))
    text = '{"bars": "7.50 bar", "kind": "pump", "list": [{"n": 1.50, "is_on": true, "none": null}, "Seal\\nS-4"]}'
    assert stated_values(text, schema) == "7.50 bar\n\n1.50\n\nSeal S-4"
    text = '{"a": ["1 bar", {"kind": "pump", "rest": ' + "[" * 500 + '"2 bar"' + "]" * 500 + '}], "b": 3}'
    assert stated_values(text, PUMP) == "1 bar\n\n2 bar\n\n3"
