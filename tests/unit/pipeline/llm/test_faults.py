"""Every way in which an endpoint fails, over real HTTP."""

import asyncio

import pytest

from pipeline.llm import errors
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel
from pipeline.llm.refusal import FIRST_CONTACT_ATTEMPTS
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.clocks import InstantClock
from tests.unit.pipeline.llm.models import bench, failing, request

ERRORS: dict[Fault, type[errors.LlmError]] = {
    Fault.RATE_LIMIT: errors.EndpointBusyError,
    Fault.QUOTA: errors.QuotaExhaustedError,
    Fault.SERVER_ERROR: errors.EndpointFailedError,
    Fault.OVERLOADED: errors.EndpointBusyError,
    Fault.RESET: errors.ConnectionFailedError,
    Fault.CUT: errors.ConnectionFailedError,
    Fault.HANG: errors.AnswerTimeoutError,
    Fault.TRUNCATED_JSON: errors.UnreadableAnswerError,
    Fault.HTML: errors.UnreadableAnswerError,
    Fault.EMPTY: errors.EmptyAnswerError,
    Fault.ENDLESS: errors.EndlessAnswerError,
    Fault.ENDLESS_ERROR: errors.EndlessAnswerError,
    Fault.PACKED: errors.UnreadableAnswerError,
}


def bounds(fault: Fault) -> dict[str, object]:
    """Settings under which a fault shows itself soon; only a hanging endpoint is timed."""
    return {"max_answer_bytes": 1 << 20, **({"timeouts": {"silence_s": 0.5}} if fault is Fault.HANG else {})}


def test_every_fault_has_its_error() -> None:
    assert set(ERRORS) == set(Fault)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("fault", Fault)
async def test_a_fault_that_stays_is_an_error_of_its_type(fault: Fault, *, stream: bool) -> None:
    script = Script(faults=FaultPlan({fault: 1.0}))
    async with bench(script, stream=stream, retries={"max_attempts": 2}, **bounds(fault)) as at:
        with pytest.raises(errors.LlmError) as caught:
            await at.model.complete(request())
        assert type(caught.value) is ERRORS[fault]
        assert caught.value.attempts == (1 if fault is Fault.QUOTA else 2)
        assert at.endpoint.usage.failures == {ERRORS[fault].__name__: caught.value.attempts}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.QUOTA])
async def test_a_fault_that_passes_is_survived(fault: Fault, *, stream: bool) -> None:
    async with bench(failing(fault, fault), stream=stream, **bounds(fault)) as at:
        completion = await at.model.complete(request())
        assert completion.text in request().messages[-1].content
        usage = at.endpoint.usage
        assert (usage.attempts, usage.answers) == (3, 1)
        assert at.scripted.log.answered.total() == 1


async def test_retry_after_is_waited_for_before_the_next_attempt() -> None:
    script = Script(first_faults=(Fault.RATE_LIMIT,), faults=FaultPlan(retry_after_s=17))
    async with bench(script) as at:
        started_s = at.clock.now_s()
        await at.model.complete(request())
        assert at.clock.now_s() - started_s >= 17


async def test_a_wrong_model_is_tried_once_and_told_what_there_is() -> None:
    async with bench(Script(models=("small", "large")), model="huge") as at:
        with pytest.raises(errors.UnknownModelError, match=r"'huge'.*small, large"):
            await at.model.complete(request())
        assert at.scripted.log.requests.total() == 1


async def test_an_endpoint_that_was_never_there_is_given_up_early() -> None:
    async with bench() as at:
        config = at.endpoint.config
    async with Endpoint(config, clock=InstantClock()) as endpoint:
        with pytest.raises(
            errors.ConnectionFailedError, match=r"cannot connect to http://127\.0\.0\.1.*base_url"
        ) as caught:
            await OpenAiChatModel(endpoint).complete(request())
        assert caught.value.attempts == FIRST_CONTACT_ATTEMPTS


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "trickles", "setting"),
    [
        (b"", False, "silence_s"),
        (HEAD, False, "silence_s"),
        (HEAD, True, "attempt_s"),  # it is never silent
    ],
    ids=["accepts", "sends headers", "trickles"],
)
async def test_an_endpoint_that_never_has_an_answer_is_given_up(head: bytes, setting: str, *, trickles: bool) -> None:
    serving: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        left = asyncio.ensure_future(reader.read())  # all that comes until the client leaves
        while not left.done():
            writer.write(b" " * trickles)
            await asyncio.wait([left], timeout=0.02)
        left.exception()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1") as server:
        timeouts = {"silence_s": 0.3, "attempt_s": 0.6 if trickles else 60}
        settings = {"timeouts": timeouts, "retries": {"max_timeouts": 2}}
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        config = LlmConfig.model_validate({"base_url": url, "model": "m", **settings})
        async with Endpoint(config, clock=InstantClock()) as endpoint:
            with pytest.raises(errors.AnswerTimeoutError, match=rf"{setting}.*gave up after 2 attempts") as caught:
                await OpenAiChatModel(endpoint).complete(request())
        await asyncio.gather(*filter(None, serving))
    assert caught.value.attempts == len(serving) == 2


@pytest.mark.parametrize(
    ("max_tokens", "max_bytes"), [(4_000, 300_000), (100, (1 << 16) + 100 * 512)], ids=["as set", "as asked for"]
)
async def test_an_endless_answer_is_left_at_its_limit(max_tokens: int, max_bytes: int) -> None:
    settings = {"max_answer_bytes": 300_000, "retries": {"max_attempts": 1}}
    async with bench(Script(faults=FaultPlan({Fault.ENDLESS: 1.0})), **settings) as at:
        with pytest.raises(errors.EndlessAnswerError, match=f"{max_bytes} bytes"):
            await at.model.complete(request(max_tokens=max_tokens))
        await at.scripted.log.until(lambda log: log.left == 1)


async def test_a_text_of_more_characters_than_its_tokens_can_have_is_a_bad_answer() -> None:
    script = Script(replies=(Reply("oil", "x" * 5_000),), max_tokens_kept=False)
    async with bench(script, retries={"max_attempts": 2}) as at:
        with pytest.raises(errors.EndlessAnswerError, match="5000 characters") as caught:
            await at.model.complete(request(max_tokens=100))
        assert caught.value.attempts == 2


async def test_many_calls_at_a_faulty_endpoint_all_come_home() -> None:
    kinds = (Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.RESET, Fault.CUT, Fault.TRUNCATED_JSON)
    plan = FaultPlan(dict.fromkeys(kinds, 0.06), seed=7, retry_after_s=0.01)
    async with bench(Script(faults=plan), rates={"max_concurrency": 32}) as at:
        answers = await asyncio.gather(*(at.model.complete(request(f"question {n}")) for n in range(200)))
        assert len(answers) == 200
        log = at.scripted.log
        assert set(log.answered.values()) == {1}  # nobody was asked again for what was answered
        assert 200 < log.requests.total() <= 1.6 * 200
        assert log.peak_in_flight <= 32
