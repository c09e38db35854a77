"""Every door of a running server against every resource, and every "no" of SECURITY.md against its test."""

import re
from pathlib import Path

from grpc_health.v1.health import SERVICE_NAME as HEALTH
from starlette.routing import Route

from scripts.reference.resources import DOORS, RESOURCES
from server.cli.run.show_settings import list_settings
from server.config import HttpConfig, ListenConfig
from server.http.endpoint import CallEndpoint
from server.http.http_server import to_asgi
from server.observe.metrics_server import PATH, READY_PATH
from tests.integration.conftest import Start

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"/", "/health", "/openapi.json", "/ui", "/ui/page.js", "/ui/page.css", "/ui/style.css"}


async def test_every_door_is_of_a_kind_whose_resources_have_bounds(start: Start) -> None:
    """A door that is added later is framed, or one of the few that are known to need no frame."""
    async with start(http={"enabled": True, "port": 0, "page": True}) as app:
        probes, calls = app.tables
        assert set(probes._handlers) == {f"/{HEALTH}/Check", f"/{HEALTH}/Watch"}  # noqa: SLF001 - no one else lists them
        for method in calls._handlers:  # noqa: SLF001 - all take a stream: the frame reads it when it let the call in
            found = calls.find(method)
            assert found is not None
            assert (found.request_streaming, found.request_deserializer) == (True, None), method
        routes = to_asgi(calls, HttpConfig(page=True), ListenConfig(), lambda: True, has_keys=True).routes
        unframed = {one.path for one in routes if isinstance(one, Route) and not isinstance(one.endpoint, CallEndpoint)}
        assert unframed == PAGES
    assert (PATH, READY_PATH) == ("/metrics", "/ready")
    for one in RESOURCES:
        assert set(one.bounds) == set(DOORS), one.name
        assert all(one.bounds.values()), one.name


def test_the_bounds_are_settings_and_the_tests_of_the_security_page_are_there() -> None:
    known = {one.name for one in list_settings()}
    named = {name for one in RESOURCES for said in one.bounds.values() for name in re.findall(r"`(\w+\.\w+)`", said)}
    assert named
    assert named <= known
    tests = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    promised = re.findall(r"`(test_\w+)`", ROOT.joinpath("SECURITY.md").read_text(encoding="utf-8"))
    assert len(promised) > 5
    assert [name for name in promised if f"def {name}(" not in tests] == []
