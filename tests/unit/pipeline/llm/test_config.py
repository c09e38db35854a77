"""Settings of endpoints and roles, keys, and the proxy of the environment."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from pipeline.llm.config import LlmConfig, LlmRole
from pipeline.llm.endpoint import proxy_for, read_api_key
from pipeline.llm.errors import LlmSettingsError

URL = "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    "base_url", ["127.0.0.1:8080", "ftp://host/v1", "http://", "http://user:pw@host/v1", "http://host/v1?key=1"]
)
def test_an_address_that_cannot_be_used_is_refused(base_url: str) -> None:
    with pytest.raises(ValidationError, match="must"):
        LlmConfig(base_url=base_url, model="m")


@pytest.mark.parametrize("base_url", [URL, f"{URL}/", f"{URL}/chat/completions"])
def test_common_ways_to_write_an_address_mean_the_same(base_url: str) -> None:
    assert LlmConfig(base_url=base_url, model="m").base_url == URL


def test_a_role_is_as_all_or_has_its_own_model_and_temperature_at_the_same_endpoint() -> None:
    config = LlmConfig.model_validate({"base_url": URL, "model": "m", "temperature": 0.3, "api_key": "k"})
    assert all(dict(config).items() <= dict(config.of_role(role)).items() for role in LlmRole)
    assert config.identity == f"m@{URL} at temperature 0.3"
    roles = {"planner": {"model": "small", "temperature": 0, "context_tokens": 4096}}
    fields = {"base_url": URL, "model": "m", "api_key": "k", "tokenizer_file": "t.json", "roles": roles}
    planner = LlmConfig.model_validate(fields).of_role(LlmRole.PLANNER)
    assert (planner.base_url, planner.model, planner.temperature, planner.context_tokens) == (URL, "small", 0.0, 4096)
    assert planner.api_key == SecretStr("k")
    assert planner.tokenizer_file is None  # it was another model's


def test_a_key_is_sent_to_no_other_address_than_its_own(tmp_path: Path) -> None:
    roles = {
        "critic": {"base_url": "http://other/v1/"},
        "judge": {"base_url": "http://third/v1", "api_key_file": tmp_path / "key"},
    }
    config = LlmConfig.model_validate({"base_url": URL, "model": "m", "api_key": "k", "roles": roles})
    critic, judge = config.of_role(LlmRole.CRITIC), config.of_role(LlmRole.JUDGE)
    assert (critic.base_url, critic.model, critic.api_key, critic.api_key_file) == ("http://other/v1", "m", None, None)
    assert (judge.base_url, judge.api_key, judge.api_key_file) == ("http://third/v1", None, tmp_path / "key")


@pytest.mark.parametrize("role", [{"base_url": "ftp://x"}, {"api_key": "k", "api_key_file": "f"}, {"mdl": "m"}])
def test_a_role_that_cannot_be_used_is_refused(role: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        LlmConfig.model_validate({"base_url": URL, "model": "m", "roles": {"critic": role}})


def test_two_keys_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="one of them"):
        LlmConfig(base_url=URL, model="m", api_key=SecretStr("k"), api_key_file=tmp_path / "key")


def test_the_key_comes_from_the_settings_or_the_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-file\n", encoding="utf-8")
    assert read_api_key(LlmConfig(base_url=URL, model="m")) is None
    assert read_api_key(LlmConfig(base_url=URL, model="m", api_key=SecretStr("k"))) == SecretStr("k")
    assert read_api_key(LlmConfig(base_url=URL, model="m", api_key_file=file)) == SecretStr("sk-from-file")


@pytest.mark.parametrize("content", [b"", b" \n", b"two words", b"first\nsecond", "schlüssel".encode(), b"\xff\xfe"])
def test_a_file_that_holds_no_key_is_named_and_not_quoted(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "key-file"
    file.write_bytes(content)
    with pytest.raises(LlmSettingsError, match="key-file") as caught:
        read_api_key(LlmConfig(base_url=URL, model="m", api_key_file=file))
    assert "second" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LlmSettingsError, match="No such file"):
        read_api_key(LlmConfig(base_url=URL, model="m", api_key_file=tmp_path / "absent"))


@pytest.mark.parametrize(
    ("settings", "silence_s"),
    [({}, 900), ({"stream": True}, 120), ({"stream": True, "timeouts": {"silence_s": 7}}, 7)],
)
def test_how_long_silence_may_last_depends_on_streaming(settings: dict[str, object], silence_s: float) -> None:
    assert LlmConfig.model_validate({"base_url": URL, "model": "m", **settings}).silence_s == silence_s


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("variable", "value", "base_url", "proxy"),
    [
        ("HTTPS_PROXY", "http://proxy:3128", "https://api.example.com/v1", "http://proxy:3128"),
        ("https_proxy", "proxy:3128", "https://api.example.com/v1", "http://proxy:3128"),
        ("HTTPS_PROXY", "http://proxy:3128", "http://api.example.com/v1", None),
        ("ALL_PROXY", "http://proxy:3128", "http://api.example.com/v1", "http://proxy:3128"),
        ("ALL_PROXY", "http://proxy:3128", "http://localhost:8080/v1", None),
        ("ALL_PROXY", "http://proxy:3128", "http://127.0.0.2:8080/v1", None),
        ("ALL_PROXY", "http://proxy:3128", "http://[::1]:8080/v1", None),
    ],
)
def test_the_proxy_of_the_scheme_is_taken_but_never_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, base_url: str, proxy: str | None
) -> None:
    monkeypatch.setenv(variable, value)
    assert proxy_for(base_url) == proxy


@pytest.mark.parametrize(
    ("no_proxy", "is_used"), [("example.com", False), ("api.example.com:8443", False), ("*", False), ("other", True)]
)
def test_hosts_can_be_left_out(monkeypatch: pytest.MonkeyPatch, no_proxy: str, *, is_used: bool) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert (proxy_for("https://api.example.com:8443/v1") is not None) is is_used
