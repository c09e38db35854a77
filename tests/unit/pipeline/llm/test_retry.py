import pytest

from pipeline.llm import errors
from pipeline.llm.config import NO_PRICES, RetryConfig
from pipeline.llm.metering import UsageTotals
from pipeline.llm.refusal import FIRST_CONTACT_ATTEMPTS, MAX_BAD_ANSWERS, Retries

CONFIG = RetryConfig()
ANSWERING = UsageTotals(NO_PRICES, was_ever_connected=True)


def attempts(error: errors.LlmError, *, was_ever_connected: bool = True) -> int:
    """Counts the attempts of a call that always fails like this."""
    retries = Retries(CONFIG, UsageTotals(NO_PRICES, was_ever_connected=was_ever_connected))
    while retries.delay_after(error) is not None:
        pass
    assert error.attempts == retries.failed_attempts
    return retries.failed_attempts


@pytest.mark.parametrize(
    "error",
    [
        errors.EndpointBusyError("busy"),
        errors.EndpointBusyError("busy", retry_after_s=CONFIG.max_retry_after_s),
        errors.EndpointFailedError("failed"),
        errors.ConnectionFailedError("reset"),
    ],
)
def test_what_may_pass_is_tried_until_the_attempts_are_used_up(error: errors.LlmError) -> None:
    assert attempts(error) == CONFIG.max_attempts
    assert str(error).endswith(f"(gave up after {CONFIG.max_attempts} attempts)")


@pytest.mark.parametrize("was_ever_connected", [False, True])
def test_silence_is_waited_for_a_few_times_only(*, was_ever_connected: bool) -> None:
    error = errors.AnswerTimeoutError("silent")
    assert attempts(error, was_ever_connected=was_ever_connected) == CONFIG.max_timeouts


def test_silence_counts_over_the_whole_call() -> None:
    retries = Retries(RetryConfig(max_timeouts=2), ANSWERING)
    assert retries.delay_after(errors.AnswerTimeoutError("silent")) is not None
    assert retries.delay_after(errors.EndpointFailedError("failed")) is not None
    assert retries.delay_after(errors.AnswerTimeoutError("silent")) is None


@pytest.mark.parametrize(
    "error",
    [
        errors.AuthenticationFailedError("key"),
        errors.UnknownModelError("model"),
        errors.ContextOverflowError("long"),
        errors.RequestRefusedError("refused"),
        errors.QuotaExhaustedError("no credit"),
        errors.EndpointBusyError("busy", retry_after_s=CONFIG.max_retry_after_s + 1),
        errors.EmptyAnswerError("thought too long", finish_reason="length"),
        errors.EmptyAnswerError("filtered", finish_reason="content_filter"),
    ],
)
def test_what_cannot_pass_is_tried_once(error: errors.LlmError) -> None:
    assert attempts(error) == 1
    assert "attempts" not in str(error)


@pytest.mark.parametrize(
    "error", [errors.UnreadableAnswerError("html"), errors.EmptyAnswerError("empty", finish_reason="stop")]
)
def test_bad_answers_are_tried_a_few_times(error: errors.BadAnswerError) -> None:
    assert attempts(error) == MAX_BAD_ANSWERS


def test_an_address_that_never_worked_is_given_up_early() -> None:
    assert attempts(errors.ConnectionFailedError("refused"), was_ever_connected=False) == FIRST_CONTACT_ATTEMPTS


def test_bad_answers_count_however_many_other_failures_come_between() -> None:
    retries = Retries(CONFIG, ANSWERING, max_bad_answers=4)
    bad, busy = errors.UnreadableAnswerError("html"), errors.EndpointBusyError("busy")
    outcomes = [retries.delay_after(error) for error in (bad, busy, bad, busy, bad, busy, bad)]
    assert [delay is None for delay in outcomes] == [False] * 6 + [True]


def test_waits_are_drawn_from_zero_to_a_bound_that_doubles() -> None:
    retries = Retries(RetryConfig(base_delay_s=4), ANSWERING)
    for bound_s in (4, 8, 16, 30, 30):
        delay_s = retries.delay_after(errors.EndpointBusyError("busy"))
        assert delay_s is not None
        assert 0 <= delay_s <= bound_s


def test_callers_that_fail_together_come_back_apart() -> None:
    delays = {Retries(CONFIG, ANSWERING).delay_after(errors.EndpointBusyError("x")) for _ in range(20)}
    assert len(delays) == 20


@pytest.mark.parametrize(("answers", "is_of_call"), [(0, False), (2, True)])
def test_a_call_without_an_answer_is_to_blame_where_others_are_answered(answers: int, *, is_of_call: bool) -> None:
    error = errors.EmptyAnswerError("empty", finish_reason="OTHER")
    retries = Retries(CONFIG, UsageTotals(NO_PRICES, answers=answers), max_bad_answers=1)
    assert retries.delay_after(error) is None
    assert error.is_of_call is is_of_call
