"""The witness itself: does the scripted endpoint do and count what it says?"""

import pytest

from tests.scripted_endpoint.faults import Fault, FaultPlan


def test_draws_depend_on_seed_content_and_attempt_only() -> None:
    plan = FaultPlan({Fault.RESET: 0.3, Fault.HTML: 0.2}, seed=1)
    draws = [plan.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]
    assert draws == [plan.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]
    assert draws.count(Fault.RESET) == pytest.approx(0.3 * len(draws), rel=0.1)
    assert draws.count(Fault.HTML) == pytest.approx(0.2 * len(draws), rel=0.1)
    other = FaultPlan(plan.shares, seed=2)
    assert draws != [other.draw(f"content {n}", attempt) for n in range(2000) for attempt in (1, 2)]
