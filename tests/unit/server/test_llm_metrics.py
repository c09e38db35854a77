"""The endpoint's totals as Prometheus sees them."""

from prometheus_client import CollectorRegistry

from pipeline.llm.chat_model import Completion
from pipeline.llm.config import LlmConfig, PriceConfig, RateConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import AnswerTimeoutError
from server.backends import EndpointCollector


async def test_totals_are_read_at_every_scrape() -> None:
    prices, rates = PriceConfig(prompt_per_million=1_000_000.0), RateConfig(max_concurrency=3)
    endpoint = Endpoint(LlmConfig(base_url="http://127.0.0.1:1/v1", model="m", prices=prices, rates=rates))
    usage, registry = endpoint.usage, CollectorRegistry()
    registry.register(EndpointCollector([endpoint]))
    assert registry.get_sample_value("precis_llm_attempts_total") == 0
    usage.count_attempt()
    usage.count_answer(Completion("Fine.", "stop", prompt_tokens=7, completion_tokens=2, model="m"))
    usage.count_attempt()
    usage.count_failure(AnswerTimeoutError("silent"))
    usage.count_retry()
    values = {
        name: registry.get_sample_value(f"precis_llm_{name}_total")
        for name in ("attempts", "retries", "answers", "prompt_tokens", "completion_tokens", "cost")
    }
    assert values == {"attempts": 2, "retries": 1, "answers": 1, "prompt_tokens": 7, "completion_tokens": 2, "cost": 7}
    assert registry.get_sample_value("precis_llm_failures_total", {"error": "AnswerTimeoutError"}) == 1
    async with endpoint.limiter.attempt(endpoint.limiter.take_number(), 0):
        gauges = [
            registry.get_sample_value(f"precis_llm_{name}") for name in ("in_flight", "waiting", "concurrency_limit")
        ]
    assert gauges == [1, 0, 3]
