"""The pytest fixture `assert_faithful`: fails a test when a summary says what its source does not.

Loaded by pytest wherever the client is installed. The server is that of PRECIS_ADDRESS, its key in PRECIS_API_KEY_FILE.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from precis import Client, Judgement

AssertFaithful = Callable[..., "Judgement"]


@pytest.fixture(scope="session")
def precis_client() -> "Iterator[Client]":
    """A client of the server; override it in a conftest.py for other options."""
    from precis import Client  # noqa: PLC0415 - tests that do not ask for it shall not wait for gRPC
    from precis.connection import DEFAULT_ADDRESS  # noqa: PLC0415

    key = os.environ.get("PRECIS_API_KEY_FILE")
    address = os.environ.get("PRECIS_ADDRESS") or DEFAULT_ADDRESS
    with Client(address, api_key=Path(key) if key else None) as client:
        yield client


@pytest.fixture
def assert_faithful(precis_client: "Client") -> AssertFaithful:
    """Judges `(source, summary, minimum=7)`; returns the judgement, or fails with the unsupported claims.

    `minimum` is of the score for hallucination, from 0 to 10; 10 is none, and no summary with an unsupported claim has
    7. `worst_claim` is of the least supported claim, `max_unsupported` a number of claims. None leaves a limit out.
    What could not be scored raises NoScore.
    """

    def check(
        source: str,
        summary: str,
        minimum: float | None = 7.0,
        *,
        worst_claim: float | None = None,
        max_unsupported: int | None = None,
    ) -> "Judgement":
        __tracebackhide__ = True
        judgement = precis_client.judge(source, summary)
        faults = judgement.faults(minimum, worst_claim=worst_claim, max_unsupported=max_unsupported)
        if faults:
            claims = "".join(f"\n- {claim.text}" for claim in judgement.unsupported)
            shown = f"; the source does not support:{claims}" if claims else ""
            pytest.fail(f"{'; '.join(faults)}{shown}", pytrace=False)
        return judgement

    return check
