"""Every setting is listed with what a reader needs, and no secret."""

import json
from collections import Counter
from pathlib import Path

import pytest

from server.cli.errors import InputError
from server.cli.run.show_settings import Setting, list_settings, print_settings


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PRECIS_SETTINGS_FILE", "PRECIS_MODELS_DIR"):
        monkeypatch.delenv(variable, raising=False)


def setting(name: str) -> Setting:
    [found] = [one for one in list_settings() if one.name == name]
    return found


def test_every_setting_has_a_description_and_a_range_in_words() -> None:
    settings = list_settings()
    assert len(settings) > 100
    assert [one.name for one in settings if not one.meaning] == []
    assert [one.name for one in settings if not one.values] == []
    assert Counter(one.variable for one in settings).most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("name", "values", "default"),
    [
        ("listen.port", "integer, 0 to 65535", "50051"),
        ("listen.body_timeout_s", "number, more than 0, in seconds", "30.0"),
        ("log.level", "debug, info, warning, error", "info"),
        ("tls.key_file", "path, or none", "-"),
        ("auth.quotas", "table", "-"),
        ("llm.model", "text", "needed"),
        ("llm.api_key", "secret, or none", "-"),
        ("llm.rates.max_concurrency", "integer, 1 to 1024", "16"),
        ("summarize.wave", "integer, at least 1, or all", "all"),
        ("inference.runtime.device_ids", "list of: integer", "[0]"),
    ],
)
def test_values_and_defaults_are_said_in_words(name: str, values: str, default: str) -> None:
    assert (setting(name).values, setting(name).default) == (values, default)


def test_the_environment_wins_over_the_file_and_that_over_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[listen]\nport = 1\ngrace_s = 2\n", encoding="utf-8")
    monkeypatch.setenv("PRECIS_SETTINGS_FILE", str(file))
    monkeypatch.setenv("PRECIS_LISTEN__PORT", "6000")
    found = {name: setting(f"listen.{name}") for name in ("port", "grace_s", "host")}
    assert {name: (one.value, one.origin) for name, one in found.items()} == {
        "port": ("6000", "environment"),
        "grace_s": ("2.0", "file"),
        "host": ("127.0.0.1", "default"),
    }


def test_secrets_are_not_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    secrets = {
        "PRECIS_LLM__API_KEY": "sk-1",
        "PRECIS_SUMMARY_STORAGE__POSTGRES_URL": "postgresql://user:sk-2@host/db",
        "PRECIS_TRACING__HEADERS": '{"authorization": "sk-3"}',
        "PRECIS_LLM__ROLES__JUDGE__API_KEY": "sk-4",
    }
    for name, value in {**secrets, "PRECIS_LLM__BASE_URL": "http://x/v1", "PRECIS_LLM__MODEL": "m"}.items():
        monkeypatch.setenv(name, value)
    print_settings("", as_json=False)
    print_settings("", as_json=True)
    printed = capsys.readouterr().out
    assert "PRECIS_LLM__API_KEY" in printed
    assert "sk-" not in printed
    assert setting("llm.api_key").origin == "environment"


def test_a_word_is_a_section_or_else_found_in_names_and_meanings(capsys: pytest.CaptureFixture[str]) -> None:
    print_settings("judge.cache", as_json=True)
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == [
        "judge.cache.max_judgements",
        "judge.cache.max_chars",
        "judge.cache.max_sources",
        "judge.cache.max_source_chars",
    ]
    print_settings("SIGTERM", as_json=True)
    assert "listen.grace_s" in [one["name"] for one in json.loads(capsys.readouterr().out)]
    with pytest.raises(InputError, match="no setting has xyzzy"):
        print_settings("xyzzy", as_json=True)
