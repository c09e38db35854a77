import pytest

from scripts.benchmarks.evaluate.loss_order import Damage, golden_texts, order_by_damage, order_requests

TEXTS = golden_texts()


def test_each_faithful_summary_stands_before_its_damaged_copies() -> None:
    requests = list(order_requests(TEXTS, 2))
    assert len(requests) == 2 * 2 * (1 + len(Damage))
    assert requests[0].generated.text == " ".join(TEXTS[0].joined)
    assert TEXTS[0].lie in requests[1].generated.text
    assert len({request.generated.text for request in requests[:7]}) == 7
    assert all(request.datum == requests[0].datum for request in requests[:14])


def test_the_order_is_the_share_of_greater_losses() -> None:
    shares = order_by_damage([0.2, 0.3, 0.1, 0.2, 0.9, 0.9, 0.9, 0.5, 0.6, 0.6, 0.4, 0.9, 0.9, 0.9])
    assert list(shares.values()) == pytest.approx([1, 0.5, 0, 1, 1, 1])
