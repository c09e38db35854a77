"""Keys and texts stay where they belong."""

import io
import logging
import traceback
from pathlib import Path

import pytest

from pipeline.llm.config import LlmConfig
from pipeline.llm.errors import AuthenticationFailedError, LlmError
from pipeline.llm.refusal import Retries
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.http import Exchange
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import SCHEMA, bench, request

KEY = "sk-proj-THEKEY0123456789"
PROMPT = "THEPROMPT: patient 4711 takes 20 mg of lisinopril"
ANSWER_PART = "lisinopril"


@pytest.fixture
def log_text() -> io.StringIO:
    """Everything that any logger says, down to DEBUG."""
    return io.StringIO()


@pytest.fixture(autouse=True)
def everything_is_logged(log_text: io.StringIO) -> object:
    handler, root = logging.StreamHandler(log_text), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield
    root.removeHandler(handler)
    root.setLevel(before)


def assert_clean(*texts: str) -> None:
    for text in texts:
        for secret in (KEY, KEY[:12], KEY[-6:], "THEPROMPT", ANSWER_PART):
            assert secret not in text


@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_is_logged_of_key_prompt_or_answer(log_text: io.StringIO, *, stream: bool) -> None:
    async with bench(Script(api_key=KEY), api_key=KEY, stream=stream) as at:
        await at.model.complete(request(PROMPT))
        await at.model.complete(request(PROMPT, json_schema=SCHEMA))
    assert log_text.getvalue()
    assert_clean(log_text.getvalue())


@pytest.mark.parametrize("fault", Fault)
async def test_no_error_and_no_traceback_holds_them(fault: Fault, log_text: io.StringIO) -> None:
    script = Script(api_key=KEY, faults=FaultPlan({fault: 1.0}))
    settings = {"retries": {"max_attempts": 2}, "timeouts": {"attempt_s": 1.0}, "max_answer_bytes": 1 << 20}
    async with bench(script, api_key=KEY, **settings) as at:
        with pytest.raises(LlmError) as caught:
            await at.model.complete(request(PROMPT))
    logging.getLogger("any").error("failed", exc_info=caught.value)
    assert_clean(
        str(caught.value), repr(caught.value), log_text.getvalue(), "".join(traceback.format_exception(caught.value))
    )


async def test_a_refused_key_is_not_repeated_though_the_endpoint_repeats_it(log_text: io.StringIO) -> None:
    async with bench(Script(api_key="another"), api_key=KEY) as at:
        with pytest.raises(AuthenticationFailedError) as caught:
            await at.model.complete(request(PROMPT))
    assert_clean(repr(caught.value), log_text.getvalue(), "".join(traceback.format_exception(caught.value)))


class Parrot(ScriptedEndpoint):
    """Refuses everything, and repeats headers and body in its reason, as some validators do."""

    async def _handle(self, exchange: Exchange) -> None:
        said = f"invalid: {exchange.request.body.decode()} {exchange.request.headers}"
        await exchange.send_json(400, {"error": {"message": said}})


async def test_an_endpoint_that_repeats_the_request_is_not_quoted(log_text: io.StringIO) -> None:
    async with Parrot() as parrot, bench(base_url=parrot.base_url, api_key=KEY) as at:
        with pytest.raises(LlmError, match="HTTP 400") as caught:
            await at.model.complete(request(PROMPT))
    assert_clean(repr(caught.value), log_text.getvalue(), "".join(traceback.format_exception(caught.value)))


async def test_neither_a_repr_nor_the_json_of_the_settings_holds_the_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(KEY, encoding="utf-8")
    async with bench(Script(api_key=KEY), api_key_file=file) as at:
        await at.model.complete(request())
        objects = (at.endpoint.config, at.endpoint, at.model, vars(at.endpoint), vars(at.model), Retries)
        assert_clean(*(repr(one) for one in objects))
    config = LlmConfig.model_validate({"base_url": "http://h/v1", "model": "m", "api_key": KEY})
    assert_clean(config.model_dump_json(), str(config.model_dump()))


class HeaderKeeper(ScriptedEndpoint):
    """Remembers the headers it was sent."""

    sent: dict[str, str]

    async def _handle(self, exchange: Exchange) -> None:
        self.sent = dict(exchange.request.headers)
        await super()._handle(exchange)


async def test_no_headers_leave_but_those_that_a_call_needs() -> None:
    async with HeaderKeeper() as keeper, bench(base_url=keeper.base_url) as at:
        await at.model.complete(request())
        needed = {"host", "content-length", "content-type", "accept", "accept-encoding", "user-agent"}
        assert set(keeper.sent) == needed
        assert keeper.sent["user-agent"] == "precis"


async def test_no_proxy_stands_between_us_and_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    async with bench() as at:
        assert (await at.model.complete(request())).text


async def test_the_key_file_is_read_again_when_the_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("yesterdays-key", encoding="utf-8")
    async with bench(Script(api_key="todays-key"), api_key_file=file) as at:
        file.write_text("todays-key", encoding="utf-8")
        assert (await at.model.complete(request())).text
        assert at.scripted.log.requests.total() == 2
