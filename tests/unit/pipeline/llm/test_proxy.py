"""Which proxy of the environment is taken."""

import pytest

from pipeline.llm.endpoint import proxy_for


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
