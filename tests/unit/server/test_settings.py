"""Settings: environment over file over defaults, unknown names refused."""

import os
from pathlib import Path

import pytest

from pipeline.llm.config import LlmRole
from server.errors import SettingsError
from server.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("PRECIS_"):
            monkeypatch.delenv(name)


def test_everything_has_a_default() -> None:
    settings = load_settings()
    assert settings.listen.port == 50051
    assert settings.models_dir == Path("models")


def test_the_environment_wins_over_the_file_and_the_file_over_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "precis.toml"
    file.write_text('models_dir = "elsewhere"\n[listen]\nport = 6000\nhost = "::1"\n', encoding="utf-8")
    monkeypatch.setenv("PRECIS_LISTEN__PORT", "7000")
    settings = load_settings(file)
    assert (settings.listen.port, settings.listen.host, settings.models_dir) == (7000, "::1", Path("elsewhere"))
    assert settings.listen.grace_s == Settings().listen.grace_s
    monkeypatch.setenv("PRECIS_SETTINGS_FILE", str(file))
    assert load_settings() == settings


def test_an_override_stands_above_the_environment_and_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECIS_LLM__BASE_URL", "https://elsewhere.example/v1")
    monkeypatch.setenv("PRECIS_LLM__API_KEY", "a key of elsewhere")
    monkeypatch.setenv("PRECIS_LLM__RATES__MAX_CONCURRENCY", "7")
    chosen = {"base_url": "https://here.example/v1", "model": "small", "api_key": None}
    llm = load_settings(overrides={"llm": chosen}).llm
    assert llm is not None
    assert (llm.base_url, llm.model, llm.api_key) == ("https://here.example/v1", "small", None)
    assert llm.rates.max_concurrency == 7


def test_settings_of_the_packages_below_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECIS_INFERENCE__QUEUE__MAX_QUEUE_ITEMS", "7")
    monkeypatch.setenv("PRECIS_EVALUATE__MAX_NLI_PAIRS", "9")
    monkeypatch.setenv("PRECIS_JUDGE__ULTRA__ETA", "2.5")
    monkeypatch.setenv("PRECIS_SERVICES__CPU_THREADS", "3")
    monkeypatch.setenv("PRECIS_SYNTHESIS__LIMITS__IMAGES__MAX_BYTES", "1000")
    settings = load_settings()
    assert settings.inference.queue.max_queue_items == 7
    assert settings.evaluate.max_nli_pairs == 9
    assert settings.judge.ultra.eta == 2.5
    assert settings.services.cpu_threads == 3
    assert settings.synthesis.limits.images.max_bytes == 1000


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PRECIS_LISTEN__PORT", "70000", "PRECIS_LISTEN__PORT"),
        ("PRECIS_LISTEN__PROT", "50051", "no such setting; did you mean port?"),
        ("PRECIS_JUDGE__ULTRA__SMOOTHING", "0.1", "judge.ultra.smoothing"),  # a constant, not a setting
        ("PRECIS_LLM__ROLES__JURY__MODEL", "small", "llm.roles.jury"),
        ("PRECIS_LISTN__PORT", "50051", "PRECIS_LISTN__PORT names no setting"),
        ("PRECIS_TLS__CERTIFICATE_FILE", "cert.pem", "set both or neither"),
        ("PRECIS_LOG__LEVEL", "loud", "log.level"),
        ("PRECIS_HTTP__HOSTS", "precis.example", "http.hosts (PRECIS_HTTP__HOSTS): expected JSON"),
        ("PRECIS_LLM__ROLES", "{judge", "llm.roles (PRECIS_LLM__ROLES): expected JSON"),
        ("PRECIS_SETTINGS_FILE", "/nowhere/precis.toml", "cannot read the settings file /nowhere/precis.toml"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [("[listen]\nporty = 1\n", r"listen\.porty"), ("listen: {port: 1}\n", "cannot read the settings file")],
    ids=["unknown key", "no TOML"],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "precis.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=told):
        load_settings(file)


def test_an_empty_variable_sets_nothing_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[3] / "docs" / "settings.md").read_text(encoding="utf-8")
    names = [word for word in page.split("`") if word.startswith("PRECIS_") and word.isupper()]
    assert len(names) > 150
    for name in names:
        monkeypatch.setenv(name, "")
    assert load_settings() == Settings()


def test_variables_of_the_command_line_client_are_no_settings_and_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECIS_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("PRECIS_TLS_CA", "ca.pem")
    monkeypatch.setenv("PRECIS_API_KEY_FILE", "key")
    load_settings()


def test_a_language_model_is_set_by_its_address_and_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().llm is None
    monkeypatch.setenv("PRECIS_LLM__BASE_URL", "http://127.0.0.1:8080/v1")
    with pytest.raises(SettingsError, match=r"llm\.model"):
        load_settings()
    monkeypatch.setenv("PRECIS_LLM__MODEL", "small")
    monkeypatch.setenv("PRECIS_LLM__RATES__MAX_CONCURRENCY", "3")
    llm = load_settings().llm
    assert llm is not None
    assert (llm.base_url, llm.model, llm.rates.max_concurrency) == ("http://127.0.0.1:8080/v1", "small", 3)


def test_a_role_has_a_model_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECIS_LLM__BASE_URL", "http://127.0.0.1:8080/v1")
    monkeypatch.setenv("PRECIS_LLM__MODEL", "all")
    monkeypatch.setenv("PRECIS_LLM__ROLES__JUDGE__MODEL", "one")
    monkeypatch.setenv("PRECIS_LLM__ROLES__JUDGE__TEMPERATURE", "0.5")
    llm = load_settings().llm
    assert llm is not None
    judge = llm.of_role(LlmRole.JUDGE)
    assert (judge.model, judge.temperature, llm.of_role(LlmRole.CRITIC).model) == ("one", 0.5, "all")


def test_a_key_in_the_settings_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRECIS_LLM__API_KEY", "sk-secret")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert "sk-secret" not in str(caught.value)
    monkeypatch.setenv("PRECIS_LLM__BASE_URL", "http://127.0.0.1:8080/v1")
    monkeypatch.setenv("PRECIS_LLM__MODEL", "small")
    assert "sk-secret" not in repr(load_settings())
