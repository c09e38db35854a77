"""The endpoint's totals as Prometheus sees them."""

from prometheus_client import CollectorRegistry

from pipeline.llm.chat_model import Completion
from pipeline.llm.config import PriceConfig
from pipeline.llm.errors import AnswerTimeoutError
from pipeline.llm.usage import UsageTotals
from server.llm_metrics import EndpointCollector


def test_totals_are_read_at_every_scrape() -> None:
    usage = UsageTotals(PriceConfig(prompt_per_million=1_000_000.0))
    registry = CollectorRegistry()
    registry.register(EndpointCollector(usage.snapshot))
    assert registry.get_sample_value("precis_llm_attempts_total") == 0
    usage.count_attempt()
    usage.count_answer(Completion("Fine.", "stop", prompt_tokens=7, completion_tokens=2, model="m"))
    usage.count_attempt()
    usage.count_failure(AnswerTimeoutError("silent"))
    values = {
        name: registry.get_sample_value(f"precis_llm_{name}_total")
        for name in ("attempts", "answers", "prompt_tokens", "completion_tokens", "cost")
    }
    assert values == {"attempts": 2, "answers": 1, "prompt_tokens": 7, "completion_tokens": 2, "cost": 7}
    assert registry.get_sample_value("precis_llm_failures_total", {"error": "AnswerTimeoutError"}) == 1
