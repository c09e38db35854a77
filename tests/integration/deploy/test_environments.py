"""Every environment that compose and the chart set, fed to a real server: it starts, serves, and ends by SIGTERM."""

import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from tests.integration.deploy.test_linters import rendered
from tests.integration.support.programs import ROOT
from tests.integration.support.server_process import server_process
from tests.unit.pipeline.summarize.postgres_server import running_postgres

HERE = {  # what is at another place on this machine; everything else stays as it is rendered
    "PRECIS_LISTEN__PORT": "0",
    "PRECIS_HTTP__PORT": "0",
    "PRECIS_METRICS__PORT": "0",
    "PRECIS_INFERENCE__RUNTIME__WARMUP_S": "0.05",
    "PRECIS_INFERENCE__RUNTIME__WORKERS": "1",
}
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with running_postgres() as url:
        yield url


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds what Secrets would be mounted as."""
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "keys").write_text("a-key-of-somebody-1234567890 somebody\n", encoding="utf-8")
    certificate = trustme.CA().issue_cert("localhost")
    certificate.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    certificate.private_key_pem.write_to_path(folder / "tls.key")
    return folder


def interpolated(text: str, variables: Mapping[str, str]) -> str:
    """Does what compose does with a value; its forms are those of the shell."""
    command = ["bash", "-c", f"cat <<end\n{text}\nend"]  # in which a quote is a quote
    return subprocess.run(command, env=dict(variables), check=True, capture_output=True, text=True).stdout[:-1]


async def start_and_stop(environment: Mapping[str, str], models: Path) -> None:
    """Starts `precis serve` with it until it serves, and stops it."""
    own = {**environment, **HERE, "PRECIS_MODELS_DIR": str(models)}
    own.pop("PRECIS_SUMMARY_STORAGE__DIRECTORY", None)
    settings: dict[str, str | Path] = {name.removeprefix("PRECIS_"): value for name, value in own.items()}
    async with server_process("precis", "serve", **settings) as server:
        assert "is serving" in await server.line(), server.errors
        server.process.send_signal(signal.SIGTERM)
        assert await server.ended() == 0, server.errors


@pytest.mark.parametrize("has_keys", [False, True], ids=["no keys", "keys"])
async def test_a_server_starts_with_what_compose_sets(
    tiny_models: Path, postgres_url: str, secrets: Path, *, has_keys: bool
) -> None:
    given = {"POSTGRES_PASSWORD": "secret", **({"PRECIS_KEYS": str(secrets / "keys")} if has_keys else {})}
    service = COMPOSE["services"]["precis"]
    environment = {name: interpolated(value, given) for name, value in service["environment"].items()}
    files = {
        f"/run/secrets/{name}": interpolated(COMPOSE["secrets"][name]["file"], given) for name in service["secrets"]
    }
    environment = {name: files.get(value, value) for name, value in environment.items()}
    assert environment["PRECIS_AUTH__KEYS_FILE"] == (str(secrets / "keys") if has_keys else "")
    assert environment["PRECIS_SUMMARY_STORAGE__POSTGRES_URL"] == "postgresql://precis:secret@postgres/precis"
    await start_and_stop({**environment, "PRECIS_SUMMARY_STORAGE__POSTGRES_URL": postgres_url}, tiny_models)


@pytest.mark.deploy
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"postgres": {"secret": ""}, "settings": {"http": {"enabled": False}, "listen": {"max_receive_mib": 40.0}}},
        {
            "apiKeys": {"secret": "keys"},
            "languageModelKey": {"secret": "llm"},
            "tls": {"secret": "tls"},
            "settings": {"llm": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}, "log": {"format": "json"}},
            "extraEnv": [{"name": "PRECIS_TRACING__ENDPOINT", "value": ""}],
        },
    ],
    ids=["defaults", "alone", "secrets"],
)
async def test_a_server_starts_with_what_the_chart_sets(
    values: dict[str, Any], tiny_models: Path, postgres_url: str, secrets: Path
) -> None:
    things = list(rendered(values))
    [server] = [one for one in things if one["kind"] == "Deployment" and not one["metadata"]["name"].endswith("envoy")]
    [container] = server["spec"]["template"]["spec"]["containers"]
    [source] = container["envFrom"]
    [settings] = [
        one["data"]
        for one in things
        if one["kind"] == "ConfigMap" and one["metadata"]["name"] == source["configMapRef"]["name"]
    ]
    of_secrets = {"PRECIS_SUMMARY_STORAGE__POSTGRES_URL": postgres_url, "PRECIS_LLM__API_KEY": "sk-1"}
    own = {one["name"]: one["value"] if "value" in one else of_secrets[one["name"]] for one in container["env"]}
    mounts = [mount["mountPath"] for mount in container["volumeMounts"] if mount["mountPath"].startswith("/etc/")]
    for name, value in own.items():
        if any(value.startswith(f"{mount}/") for mount in mounts):
            own[name] = str(secrets / Path(value).name)
    assert "/etc/precis" not in "".join(own.values())
    await start_and_stop({**settings, **own}, tiny_models)
