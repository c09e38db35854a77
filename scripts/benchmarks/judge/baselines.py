"""What the judge is measured against: SummaC-ZS on the same NLI model, ROUGE-2, and the share of copied bigrams."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pipeline.protocols import CONTRADICTION, ENTAILMENT, Entailment
from scripts.benchmarks.judge.data import sentences_of

_SHORTEST_SENTENCE = 10  # characters; SummaC keeps what is longer
_MOST_PREMISES = 100
_TOKEN = re.compile(r"[a-z0-9]+")


async def summac_zs(source: str, summary: str, entailment: Entailment) -> float:
    """Returns the zero-shot score of SummaC (Laban et al. 2022, arXiv 2111.09525), in [-1, 1].

    Sentences count that have more than 10 characters, the first 100 of the document. For each of the summary it takes
    the greatest entailment less the greatest contradiction by any of the document, then the mean.
    """
    premises = _sentences(source)[:_MOST_PREMISES]
    hypotheses = _sentences(summary)
    if not premises or not hypotheses:
        return 0.0
    pairs = [(premise, hypothesis) for hypothesis in hypotheses for premise in premises]
    scores = (await entailment.entail(pairs)).reshape(len(hypotheses), len(premises), 3).astype(np.float64)
    return float((scores[:, :, ENTAILMENT].max(axis=1) - scores[:, :, CONTRADICTION].max(axis=1)).mean())


def rouge2(candidate: str, references: Sequence[str]) -> float:
    """Returns ROUGE-2 F1 in [0, 1], the best over the references; words of letters and digits in lower case."""
    return max((_rouge2(candidate, reference) for reference in references), default=0.0)


def bigram_share(source: str, summary: str) -> float:
    """Returns R2p, the share of the summary's bigrams that the source has, in [0, 1]; 0 without bigrams."""
    told = _bigrams(summary)
    return (told & _bigrams(source)).total() / told.total() if told else 0.0


def _rouge2(candidate: str, reference: str) -> float:
    one, other = _bigrams(candidate), _bigrams(reference)
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0


def _bigrams(text: str) -> Counter[tuple[str, str]]:
    tokens = _TOKEN.findall(text.lower())
    return Counter(pairwise(tokens))


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences_of(text) if len(sentence) > _SHORTEST_SENTENCE]
