"""The files of `deploy/` name what there is: metrics, services, settings."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from precis.calls import SERVICES
from prometheus_client.parser import text_string_to_metric_families

from server.app import App
from server.rpc.listener import options
from server.settings import Settings
from tests.integration.deploy.cluster import CONFIG, read_config, transcoder_of
from tests.integration.support.metrics_page import read_page
from tests.integration.support.programs import ROOT

DEPLOY = ROOT / "deploy"
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
OF_PROMETHEUS = {"up"}

Yaml = dict[str, Any]


def read_yaml(*parts: str) -> Yaml:
    """Reads one file of `deploy/`."""
    content: Yaml = yaml.safe_load(DEPLOY.joinpath(*parts).read_text(encoding="utf-8"))
    return content


def expressions() -> Iterator[str]:
    """Yields every query of the dashboard and the alerts."""
    for group in read_yaml("prometheus", "alerts.yaml")["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads((DEPLOY / "grafana" / "precis.json").read_text(encoding="utf-8"))["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


def metrics_of(expression: str) -> set[str]:
    """Returns the names of the metrics that a query reads."""
    return set(re.findall(r"\b(?:precis|process)_\w+|\bup\b", re.sub(r'"[^"]*"', "", expression)))


async def test_every_metric_of_the_dashboard_and_the_alerts_is_exported(app: App) -> None:
    page = await read_page(app.metrics_port)
    exported = {
        family.name + suffix
        for family in text_string_to_metric_families(page)
        for suffix in SUFFIXES.get(family.type, ())
    }
    named = set().union(*map(metrics_of, expressions()))
    assert len(named) > 20
    assert named <= exported | OF_PROMETHEUS, named - exported - OF_PROMETHEUS


def test_a_metric_that_nobody_exports_is_found_in_an_expression() -> None:
    query = 'sum by (le) (rate(precis_wrong_total{job="precis_job"}[5m])) > 0 and up'
    assert metrics_of(query) == {"precis_wrong_total", "up"}


def test_envoy_speaks_json_for_every_service_takes_what_the_servers_take_and_pings_as_they_allow() -> None:
    assert sorted(transcoder_of(read_config())["services"]) == sorted(SERVICES)
    largest = Settings().listen.max_receive_mib * 1024 * 1024
    resources = read_config()["static_resources"]
    for place in (*resources["listeners"], *resources["clusters"]):
        assert place["per_connection_buffer_limit_bytes"] > largest
    assert transcoder_of(read_config())["max_request_body_size"] > largest
    cluster, _ = read_config()["static_resources"]["clusters"]
    [spoken] = cluster["typed_extension_protocol_options"].values()
    allowed_ms = dict(options(Settings().listen))["grpc.http2.min_recv_ping_interval_without_data_ms"]
    interval = spoken["explicit_http_config"]["http2_protocol_options"]["connection_keepalive"]["interval"]
    assert float(interval.removesuffix("s")) * 1e3 > allowed_ms


@pytest.mark.parametrize(
    "path",
    ["compose.yaml", "Dockerfile", "systemd/precis.service", "helm/precis/templates/servers.yaml"],
)
def test_every_setting_that_is_named_exists(path: str) -> None:
    known = {
        *re.findall(r"`(PRECIS_\w+)`", (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")),
        "PRECIS_SETTINGS_FILE",
        "PRECIS_KEYS",  # of compose.yaml itself
        "PRECIS_",  # a prefix
    }
    named = set(re.findall(r"PRECIS_\w*", (DEPLOY / path).read_text(encoding="utf-8")))
    assert named
    assert named <= known, named - known


def test_servers_have_longer_to_stop_than_their_calls_to_end() -> None:
    grace_s = Settings().listen.grace_s
    compose = read_yaml("compose.yaml")["services"]["precis"]["stop_grace_period"]
    chart = read_yaml("helm", "precis", "values.yaml")["terminationGraceSeconds"]
    unit = re.search(r"TimeoutStopSec=(\d+)", (DEPLOY / "systemd" / "precis.service").read_text(encoding="utf-8"))
    assert unit is not None
    for seconds in (compose.removesuffix("s"), chart, unit[1]):
        assert float(seconds) > grace_s


def test_the_chart_takes_the_files_that_the_others_take() -> None:
    files = DEPLOY / "helm" / "precis" / "files"
    assert (files / "envoy.yaml").resolve() == CONFIG.resolve()
    assert (files / "alerts.yaml").resolve() == (DEPLOY / "prometheus" / "alerts.yaml").resolve()
