import pytest

from inference.compile.wheels import progress_bar


@pytest.mark.parametrize(
    ("version", "choice"), [("23.2.1", "off"), ("24.0", "off"), ("24.1b1", "raw"), ("24.1", "raw"), ("25", "raw")]
)
def test_progress_is_asked_for_only_where_pip_writes_it(version: str, choice: str) -> None:
    assert progress_bar(version) == choice
