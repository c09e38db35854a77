"""Checkpoints and reference outputs made with torch. Needs the extra `export`; imported by its tests alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

_SPECIAL = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}


def write_tiny_deberta(folder: Path, *, words: Sequence[str], id2label: Mapping[int, str]) -> None:
    """Writes a DeBERTa-v2 classifier with random weights, and a tokenizer that knows `words`."""
    vocabulary = {word: index for index, word in enumerate([*_SPECIAL.values(), *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, _SPECIAL["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **_SPECIAL).save_pretrained(folder)
    config = DebertaV2Config(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=8,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        type_vocab_size=0,
        pooler_hidden_size=32,
        initializer_range=0.5,  # large, so that the three probabilities differ
        id2label=dict(id2label),
        label2id={label: index for index, label in id2label.items()},
    )
    torch.manual_seed(0)
    DebertaV2ForSequenceClassification(config).save_pretrained(folder)


def write_tiny_roberta(folder: Path, *, words: Sequence[str]) -> None:
    """Writes a RoBERTa classifier of two columns without names, as checkers of facts have them, with random weights."""
    special = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
    vocabulary = {word: index for index, word in enumerate([*special.values(), *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=130,
        initializer_range=0.5,
        num_labels=2,
    )
    torch.manual_seed(0)
    RobertaForSequenceClassification(config).save_pretrained(folder)


def embeddings(folder: Path, texts: Sequence[str]) -> NDArray[np.float32]:
    """Returns what sentence-transformers computes: mean of the token states over a padded batch, of norm 1."""
    batch = AutoTokenizer.from_pretrained(folder)(list(texts), padding=True, return_tensors="pt")
    with torch.no_grad():
        states = AutoModel.from_pretrained(folder)(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    pooled = (states * mask).sum(1) / mask.sum(1)
    return np.asarray(torch.nn.functional.normalize(pooled).numpy())


def label_probabilities(folder: Path, pair: Sequence[str]) -> dict[str, float]:
    """Returns label -> probability, by the names that config.json gives the columns; of a pair, or of one text."""
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = AutoTokenizer.from_pretrained(folder)(*pair, return_tensors="pt")
    with torch.no_grad():
        probabilities = torch.softmax(model(**inputs).logits[0], dim=0)
    return {model.config.id2label[column]: float(value) for column, value in enumerate(probabilities)}
