from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pipeline.llm.refusal import retry_after_s


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_seconds_milliseconds_and_dates_are_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


def test_a_date_in_the_future_is_the_time_until_then() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    wait_s = retry_after_s({"retry-after": date})
    assert wait_s is not None
    assert 3000 < wait_s <= 3600
