"""Who writes summaries, and by which settings their texts are checked."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from pipeline.llm.config import LlmConfig, LlmRole
from pipeline.summarize.gate.gate import GatedWriter
from server.backends import Backends, choose_writer
from server.settings import Settings
from tests.unit.pipeline.summarize.fake_chat import FakeChat


def test_the_operator_s_thresholds_reach_the_gate() -> None:
    without_models: Any = SimpleNamespace(missing=("nli",))
    settings = Settings.model_validate(
        {
            "llm": LlmConfig(base_url="http://127.0.0.1:1/v1", model="any"),
            "judge": {"evidence": {"partly_supported": 0.9}},
        }
    )
    backends = Backends(without_models, dict.fromkeys(LlmRole, FakeChat()))
    with ThreadPoolExecutor(1) as cpu:
        chosen = choose_writer(settings, backends, cpu=cpu)
        default = choose_writer(settings.model_copy(update={"judge": Settings().judge}), backends, cpu=cpu)
    assert chosen is not None
    assert default is not None
    assert isinstance(chosen.writer, GatedWriter)
    assert chosen.writer.trust_gate.support is settings.judge.evidence
    assert chosen.writer.identity != default.writer.identity  # no stored answer that was checked otherwise is used
