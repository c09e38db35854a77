import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.comparison import Comparison
from pipeline.model_answers import Embeddings
from pipeline.reading.passage import TextSpan


def passage(text: str) -> TextSpan:
    return TextSpan("t", 0, 1, text, text)


PREMISES = tuple(passage(f"p{index}") for index in range(4))
QUESTION = Comparison.exact([passage("h")], PREMISES)


def embeddings(*cosines: float) -> Embeddings:
    """Places the premises at these cosines to the hypothesis."""
    vectors = [(1.0, 0.0)] + [(cosine, (1 - cosine**2) ** 0.5) for cosine in cosines]
    return Embeddings(QUESTION.texts, np.array(vectors, dtype=np.float32))


def test_the_closest_premises_are_chosen_and_stay_in_order() -> None:
    pruned = QUESTION.pruned(embeddings(0.1, 0.9, 0.2, 0.8), 2)
    assert pruned.chosen == ((1, 3),)
    assert pruned.premises is PREMISES


def test_of_equally_close_premises_the_first_are_chosen() -> None:
    assert QUESTION.pruned(embeddings(0.5, 0.5, 0.5, 0.5), 3).chosen == ((0, 1, 2),)


def test_few_premises_are_all_scored() -> None:
    assert QUESTION.pruned(embeddings(0.1, 0.2, 0.3, 0.4), 4) is QUESTION


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4), st.integers(1, 3))
def test_more_premises_never_lose_one_that_was_chosen(cosines: list[float], top_k: int) -> None:
    (fewer,), (more,) = (QUESTION.pruned(embeddings(*cosines), count).chosen for count in (top_k, top_k + 1))
    assert len(fewer) == top_k
    assert set(fewer) <= set(more)
