import numpy as np
import pytest

from pipeline.errors import ModelOutputError
from pipeline.evaluate.components import score_semantic
from pipeline.evaluate.evaluator import chunk_spans
from pipeline.evaluate.hard_fails import SplitText
from pipeline.evaluate.result import ChunkSpan
from pipeline.model_answers import Embeddings
from pipeline.reading.characters import normalize
from tests.fakes_pipeline import WordTokenizer

EMBEDDINGS = Embeddings(["x", "y", "-x"], np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32))


def chunk(text: str, tokens: int) -> ChunkSpan:
    return ChunkSpan(0, tokens, tokens, text)


def test_chunks_are_pooled_by_their_tokens() -> None:
    result = score_semantic([chunk("x", 30), chunk("y", 10)], [chunk("x", 5)], EMBEDDINGS)
    assert result.cosine == pytest.approx(3 / 10**0.5)  # (0.75, 0.25) against (1, 0)
    assert result.score == result.cosine
    assert [span.token_count for span in result.generated_chunks] == [30, 10]


def test_opposite_texts_score_nothing() -> None:
    result = score_semantic([chunk("-x", 1)], [chunk("x", 1)], EMBEDDINGS)
    assert (result.cosine, result.score) == (-1, 0)


def test_vectors_that_cancel_out_have_no_direction() -> None:
    assert score_semantic([chunk("x", 1), chunk("-x", 1)], [chunk("x", 1)], EMBEDDINGS).score == 0


def test_a_long_text_is_cut_into_chunks_and_nothing_is_left_out() -> None:
    text = " ".join(f"Sentence {index} says something." for index in range(50))
    split = SplitText.of(normalize("t", text), 700)
    chunks = chunk_spans(split, WordTokenizer().offsets(text), 64)
    assert [chunk.token_count for chunk in chunks] == [60, 60, 60, 60, 10]
    assert " ".join(chunk.text for chunk in chunks) == text


def test_a_text_without_tokens_is_one_chunk() -> None:
    (only,) = chunk_spans(SplitText.of(normalize("t", "x"), 700), [], 64)
    assert (only.text, only.token_count) == ("x", 1)


@pytest.mark.parametrize(
    "vectors", [np.zeros((1, 2)), np.zeros(2), np.full((2, 2), np.inf)], ids=["few", "flat", "infinite"]
)
def test_an_unusable_answer_is_refused(vectors: np.ndarray) -> None:
    with pytest.raises(ModelOutputError):
        Embeddings(["x", "y"], vectors.astype(np.float32))
