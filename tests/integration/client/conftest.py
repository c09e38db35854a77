"""Both clients, so that every test of one is a test of the other."""

import pytest

from tests.integration.client.either_client import Connect, connector


@pytest.fixture(params=["sync", "asyncio"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """Opens clients of one kind."""
    return connector(request.param)
