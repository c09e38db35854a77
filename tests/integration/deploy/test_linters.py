"""Image and chart as their linters see them: hadolint, Helm itself, and the schemas of Kubernetes."""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml

from tests.integration.support.programs import ROOT

pytestmark = pytest.mark.deploy

CHART = ROOT / "deploy" / "helm" / "precis"
KUBERNETES = "1.31"
OF_OPERATORS = {"ServiceMonitor", "PrometheusRule"}  # kinds that Kubernetes itself does not know
NEEDED: Mapping[str, Any] = {"postgres": {"secret": "database"}}
KINDS = {
    *("ConfigMap", "Deployment", "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy", "PodDisruptionBudget"),
    *("PrometheusRule", "Service", "ServiceAccount", "ServiceMonitor"),
}


def rendered(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the objects that Helm would create."""
    helm = importlib.import_module("helm_python")
    with helm.Chart.load(str(CHART)) as chart:
        for text in chart.render({**NEEDED, **values}, name="demo", namespace="production").values():
            yield from filter(None, yaml.safe_load_all(text))


def check(thing: dict[str, Any]) -> None:
    """Raises ValidationError unless it is what Kubernetes takes."""
    importlib.import_module("kubernetes_validate").validate(thing, KUBERNETES, strict=True)


def test_the_image_has_no_finding_of_hadolint() -> None:
    program = which("hadolint", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    assert program, "hadolint is missing: ./scripts/setup deploy"
    ended = subprocess.run([program, ROOT / "deploy" / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_helm_finds_no_fault_in_the_chart() -> None:
    found = importlib.import_module("helm_python").lint(str(CHART), values=dict(NEEDED))
    assert found["total_charts_linted"] == 1
    assert found["errors"] == []
    assert [one["error"] for one in found["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"autoscaling": {"enabled": True}},
        {"models": {"inside": False, "claim": "models"}, "settings": {"http": {"enabled": False}}},
        {"ingress": {"host": "precis.example", "className": "nginx", "annotations": {"a/b": "c"}, "tls": "own"}},
        {
            "extraEnv": [{"name": "PRECIS_METRICS__OTLP_HEADERS", "value": "{}"}],
            "affinity": {"podAntiAffinity": {}},
            "priorityClassName": "high",
        },
        {"apiKeys": {"secret": "keys"}, "languageModelKey": {"secret": "llm"}, "tls": {"secret": "tls"}},
        {"networkPolicy": {"enabled": False}, "monitoring": {"serviceMonitor": True, "alerts": True}},
    ],
    ids=["defaults", "autoscaling", "models in a volume", "ingress", "of the pod", "secrets", "monitoring"],
)
def test_kubernetes_takes_what_the_chart_makes(values: dict[str, Any]) -> None:
    things = list(rendered(values))
    assert {"Deployment", "Service"} <= {thing["kind"] for thing in things} <= KINDS
    for thing in things:
        if thing["kind"] not in OF_OPERATORS:
            check(thing)


def test_a_field_that_kubernetes_does_not_know_is_found() -> None:
    [server, *_] = [thing for thing in rendered({}) if thing["kind"] == "Deployment"]
    server["spec"]["replica"] = 3
    with pytest.raises(importlib.import_module("kubernetes_validate").ValidationError):
        check(server)


@pytest.mark.parametrize("values", [{"replicas": 0}, {"image": {"repository": ""}}, {"unknown": 1}])
def test_the_schema_refuses_wrong_values(values: dict[str, Any]) -> None:
    with pytest.raises(importlib.import_module("helm_python").HelmError, match=next(iter(values))):
        list(rendered(values))
