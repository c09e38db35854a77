from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from inference.batching.in_flight import Encoded
from inference.errors import CorruptModelError
from inference.tokens.tokenization import TextEncoder
from tests.unit.inference.tiny_models import FRAME, write_tiny_tokenizer

CLS, SEP = 2, 3
WORD = 4  # id of w0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_tiny_tokenizer(tmp_path / "tokenizer.json")
    return tmp_path / "tokenizer.json"


def make_encoder(path: Path, *, max_tokens: int = 10) -> TextEncoder:
    return TextEncoder(path, max_tokens=max_tokens)


def ids_of(item: Encoded) -> list[int]:
    ids: list[int] = np.frombuffer(item.ids, np.int32).tolist()
    return ids


def words(first: int, count: int) -> str:
    return " ".join(f"w{number}" for number in range(first, first + count))


def test_a_pair_is_what_the_tokenizer_itself_makes_of_it(path: Path) -> None:
    (item,) = make_encoder(path).encode_pairs([("w0 w1", "w2")])
    reference = Tokenizer.from_file(str(path)).encode("w0 w1", "w2")
    assert ids_of(item) == reference.ids
    assert item.first_length == reference.type_ids.index(1)


@pytest.mark.parametrize("count", [0, 2, 8, 9, 50])
def test_a_text_is_framed_and_a_long_one_cut_at_its_end_and_says_so(path: Path, count: int) -> None:
    (item,) = make_encoder(path).encode_texts([words(0, count)])
    kept = min(count, 8)
    assert ids_of(item) == [CLS, *range(WORD, WORD + kept), SEP]
    assert (item.length, item.is_truncated) == (kept + 2, count > 8)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "kept"),
    [(5, 2, (5, 2)), (20, 2, (5, 2)), (2, 20, (2, 5)), (20, 3, (4, 3)), (20, 20, (4, 3)), (3, 20, (3, 4))],
)
def test_a_long_pair_loses_tokens_of_its_longer_text_first(
    path: Path, premise: int, hypothesis: int, kept: tuple[int, int]
) -> None:
    (item,) = make_encoder(path).encode_pairs([(words(0, premise), words(100, hypothesis))])
    first, second = kept
    expected = [CLS, *range(WORD, WORD + first), SEP, *range(WORD + 100, WORD + 100 + second), SEP]
    assert ids_of(item) == expected
    assert item.is_truncated is (premise + hypothesis > 7)


def test_only_the_head_of_a_very_long_text_is_tokenized_and_it_is_the_same(path: Path) -> None:
    text = words(0, 100) + " w5" * 20_000
    encoder = make_encoder(path, max_tokens=64)
    (item,) = encoder.encode_texts([text])
    assert ids_of(item) == [CLS, *range(WORD, WORD + 62), SEP]
    assert item.is_truncated


def test_a_long_text_of_few_tokens_is_not_taken_for_a_cut_one(path: Path) -> None:
    text = "w1" + " " * 50_000 + "w2 " + "x" * 20_000
    (item,) = make_encoder(path, max_tokens=100).encode_texts([text])
    assert ids_of(item) == [CLS, WORD + 1, WORD + 2, 1, SEP]
    assert not item.is_truncated


def test_what_is_far_behind_the_head_of_a_text_is_left_out_and_said(path: Path) -> None:
    (item,) = make_encoder(path).encode_texts(["w1" + " " * 50_000 + "w2"])
    assert ids_of(item) == [CLS, WORD + 1, SEP]
    assert item.is_truncated


def test_special_tokens_in_a_text_are_text(path: Path) -> None:
    premise, hypothesis = "w0 [SEP] w1", "[CLS] w2"
    (item,) = make_encoder(path, max_tokens=30).encode_pairs([(premise, hypothesis)])
    assert ids_of(item).count(SEP) == 2
    assert ids_of(item).count(CLS) == 1


def test_special_tokens_that_a_vocabulary_spells_as_one_piece_are_left_out(tmp_path: Path) -> None:
    vocabulary = [("[PAD]", 0.0), ("<unk>", 0.0), ("[CLS]", -1.0), ("[SEP]", -1.0), ("▁", -2.0), ("a", -3.0)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=1, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = FRAME
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (item,) = make_encoder(tmp_path / "tokenizer.json").encode_texts(["a [SEP] a"])
    assert ids_of(item) == [CLS, 4, 5, 4, 4, 5, SEP]


def test_equal_texts_have_equal_keys_and_others_not(path: Path) -> None:
    first, same, other = make_encoder(path).encode_texts(["w0 w1", "w0  w1", "w1 w0"])
    assert first.key == same.key != other.key


def test_offsets_point_into_the_hypothesis_as_far_as_it_was_kept(path: Path) -> None:
    encoder, text = make_encoder(path, max_tokens=20), "w0  w12 w3"
    (row,) = encoder.encode_pairs([("w1 w2", text)])
    assert [text[start:end] for start, end in encoder.hypothesis_offsets(text, row)] == ["w0", "w12", "w3"]
    encoder = make_encoder(path, max_tokens=11)
    (row,) = encoder.encode_pairs([(words(0, 9), words(20, 9))])
    assert ids_of(row)[row.first_length :] == [*range(WORD + 20, WORD + 24), SEP]
    assert encoder.hypothesis_offsets(words(20, 9), row) == [(0, 3), (4, 7), (8, 11), (12, 15)]


def test_special_tokens_written_into_a_hypothesis_leave_its_offsets_in_step(tmp_path: Path) -> None:
    spaced = Tokenizer(models.Unigram([("[SEP]", 0.0), ("[CLS]", 0.0), ("▁a", -1.0), ("▁b", -1.0)], unk_id=0))
    spaced.pre_tokenizer = pre_tokenizers.Metaspace()
    spaced.add_special_tokens(["[SEP]", "[CLS]"])
    spaced.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 0)]
    )
    spaced.save(str(tmp_path / "spaced.json"))
    encoder, text = make_encoder(tmp_path / "spaced.json"), " a x  b"
    (row,) = encoder.encode_pairs([("a", text)])
    assert ids_of(row)[row.first_length :] == [2, 3, 0]  # the unknown x would be [SEP] here
    assert [text[start:end] for start, end in encoder.hypothesis_offsets(text, row)] == ["a", "b"]


def test_a_broken_tokenizer_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(CorruptModelError) as caught:
        make_encoder(tmp_path / "tokenizer.json")
    assert caught.value.path == tmp_path / "tokenizer.json"
