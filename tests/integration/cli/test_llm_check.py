"""`precis llm check`: what a model can, and what of the settings keeps it from being used."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pipeline.llm.config import LlmConfig
from server.cli import main
from server.cli.run.llm_check import setting_of
from tests.integration.support.programs import Ended, unused_port
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

JSON = '{"greeting": "Hello Ann", "warmth": 3}'
ABLE = (Reply("Polly", "Polly!"), Reply("JSON schema", JSON), Reply("Count", "one, two, six"))
HOLDS = {"/v1/models": {"data": [{"id": "scripted", "max_model_len": 16_384}]}}
HOLDS_LESS = {"/v1/models": {"data": [{"id": "scripted", "max_model_len": 4_096}]}}
ROLES = ("writer", "critic", "judge", "planner", "executor", "synthesizer")


Check = Callable[..., Awaitable[Ended]]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Runs the command in this process, where it has only to be imported once."""
    monkeypatch.delenv("PRECIS_SETTINGS_FILE", raising=False)

    async def run(*arguments: object, **settings: str) -> Ended:
        for name, value in settings.items():
            monkeypatch.setenv(f"PRECIS_LLM__{name}", value)
        code = await asyncio.to_thread(main.run, ["llm", "check", *map(str, arguments)])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return run


def named_by(endpoint: ScriptedEndpoint) -> dict[str, str]:
    """Returns settings that name an endpoint."""
    return {"BASE_URL": endpoint.base_url, "MODEL": "scripted"}


async def test_a_model_of_all_roles_is_asked_once_and_told_with_its_price(check: Check) -> None:
    async with ScriptedEndpoint(Script(replies=ABLE, tells=HOLDS)) as endpoint:
        prices = {"PRICES__PROMPT_PER_MILLION": "2.5", "ROLES__JUDGE__TEMPERATURE": "0.5"}
        ended = await check("--json", "--words", 20_000, **named_by(endpoint), **prices)
        assert endpoint.log.requests.total() == 5
    assert ended.code == 0, ended.err
    [found] = json.loads(ended.out)
    assert (found["roles"], found["problems"], found["left_out"]) == (list(ROLES), [], [])
    answers = ("system_role", "json_by_schema", "json_by_words", "logprobs", "stream")
    assert [found[name] for name in answers] == [True] * 5
    assert (found["context_tokens"], found["held_tokens"], found["thinking_tokens"]) == (16_384, 16_384, 0)
    assert found["tokens_per_s"] > 0
    assert 0.05 < found["most_cost"] < 1.0


async def test_what_cannot_be_had_is_told_and_what_must_be_had_is_named(check: Check) -> None:
    poor = {"supports_json_schema": False, "supports_logprobs": False, "streams": "ignored", "is_reasoning_model": True}
    async with ScriptedEndpoint(Script(tells=HOLDS_LESS, **poor)) as endpoint:  # type: ignore[arg-type] # a bool each
        ended = await check(**named_by(endpoint), CONTEXT_TOKENS="8192")
        again = await check("--json", ROLES__JUDGE__CONTEXT_TOKENS="4096")
    assert ended.code == again.code == 1
    lines = dict(line.strip().split("  ", 1) for line in ended.out.splitlines() if "  " in line.strip())
    told = {name: answer.strip() for name, answer in lines.items()}
    assert told["left out"] == "logprobs, max_tokens, response_format, temperature"
    assert (told["json by schema"], told["logprobs"], told["stream"]) == ("refused", "refused", "no")
    assert "the endpoint holds 4,096: change llm.context_tokens" in ended.err
    assert "it writes no JSON that fits a schema: change llm.model" in ended.err
    of_others, of_judge = json.loads(again.out)
    assert (of_judge["roles"], len(of_judge["problems"]), len(of_others["problems"])) == (["judge"], 1, 2)


async def test_a_schema_that_is_taken_and_not_kept_names_its_setting(check: Check) -> None:
    replies = (*ABLE, Reply("Greet Ann", "Hello Ann!"))
    async with ScriptedEndpoint(Script(replies=replies)) as endpoint:
        ended = await check(**named_by(endpoint))
        assert (ended.code, "change llm.structured_output" in ended.err) == (1, True)
        assert (await check(STRUCTURED_OUTPUT="prompt")).code == 0


async def test_an_endpoint_that_cannot_be_asked_is_told_with_the_option_and_without_control_characters(
    tmp_path: Path, check: Check
) -> None:
    assert (await check()).code == 2
    (tmp_path / "key").write_text("sk-of-the-endpoint", encoding="utf-8")
    script = Script(models=("\x1b[31mred [bold]",), api_key="sk-of-the-endpoint")
    async with ScriptedEndpoint(script) as endpoint:
        named = ("--endpoint", endpoint.base_url, "--model", "scripted")
        unknown = await check(*named, "--api-key-file", tmp_path / "key")
        refused = await check(*named, API_KEY="sk-of-the-endpoint")
    async with ScriptedEndpoint(Script(faults=FaultPlan({Fault.HANG: 1.0}))) as endpoint:
        slow = await check("--endpoint", endpoint.base_url, "--model", "scripted", "--timeout", 0.1)
    dead = await check("--endpoint", f"http://127.0.0.1:{unused_port()}/v1", "--model", "m")
    for ended, flag in ((unknown, "--model"), (refused, "--api-key-file"), (dead, "--endpoint"), (slow, "--timeout")):
        assert ended.code == 1
        assert ended.err.rstrip().endswith(f"change {flag}")
    assert "serves: �[31mred [bold]" in unknown.err
    assert "[bold]" in unknown.out
    assert "\x1b" not in unknown.out + unknown.err


async def test_a_model_that_falls_silent_after_its_first_answer_is_told_without_a_price(check: Check) -> None:
    async with ScriptedEndpoint(Script(replies=ABLE, first_faults=(None, Fault.QUOTA))) as endpoint:
        ended = await check("--json", **named_by(endpoint))
    [found] = json.loads(ended.out)
    assert (ended.code, len(found["problems"]), "most_cost" in found) == (1, 1, False)


@pytest.mark.parametrize(
    ("use", "name", "setting"),
    [
        ("writer", "model", "llm.model"),
        ("judge", "model", "llm.roles.judge.model"),
        ("judge", "base_url", "llm.base_url"),
        ("critic", "context_tokens", "llm.roles.all.context_tokens"),
        ("judge.fallback", "model", "llm.roles.judge.fallback.model"),
        ("judge.fallback.fallback", "base_url", "llm.roles.judge.fallback.fallback.base_url"),
    ],
)
def test_a_setting_is_named_where_it_is_set(use: str, name: str, setting: str) -> None:
    roles = {"judge": {"model": "b", "fallback": {"model": "c"}}, "all": {"context_tokens": 4_096}}
    llm = LlmConfig.model_validate({"base_url": "http://e/v1", "model": "a", "roles": roles})
    assert setting_of(llm, use, name) == setting
