"""How much of a key point the summary tells: u, the covered share.

A key point is a whole sentence, which a summary rarely tells to the last word, so entailment alone is a matter of all
or nothing. The share of its content words, weighted by rarity, that one or two neighbouring sentences of the summary
have says how much is told, as far as they do not contradict it: u is the greater of the entailment and, over the
windows, share x (1 - contradiction). Only sentences that say something of the source tell facts of it.
"""

from collections.abc import Collection

from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.labels import covered_of
from pipeline.judge.evidence.plan import FactPlan, Plan
from pipeline.judge.evidence.table import KeyPoint
from pipeline.model_answers import PairScores
from pipeline.protocols import Tokenizer


def read_key_point(  # noqa: PLR0913 (what is read, and what reads it)
    plan: Plan,
    fact: FactPlan,
    scores: PairScores,
    *,
    grounded: Collection[int],
    tokenizer: Tokenizer,
    config: EvidenceConfig,
) -> KeyPoint:
    """Returns a fact of the source with what the summary tells of it.

    Args:
        plan: of the table.
        fact: of the source.
        scores: of all pairs.
        grounded: sentences of the summary that say something of the source.
        tokenizer: counts tokens.
        config: the settings.
    """
    draft = plan.draft
    source = draft.source
    passage = source.read.passages[fact.sentence]
    stems = list(dict.fromkeys(source.read.table.content_stems(source.read.ranges[fact.sentence])))
    weights = {stem: source.index.rarity(stem) for stem in stems}
    windows = [window for window in fact.windows if all(index in grounded for index in window.sentences)]
    entailment, best = scores.best(windows, passage.text)
    shares = [_share(plan, weights, window.sentences) for window in windows]
    told = [
        share * (1 - scores.contradiction(window, passage.text)) for share, window in zip(shares, windows, strict=True)
    ]
    share = max(entailment, *told) if told else entailment
    return KeyPoint(
        passage=passage,
        token_count=len(tokenizer.offsets(passage.text)),
        entailment=entailment,
        content_share=max(shares, default=0.0),
        covered_share=share,
        covered=covered_of(share, config),
        best=best.passage if best else None,
    )


def _share(plan: Plan, weights: dict[str, float], sentences: range) -> float:
    """Returns the share of a fact's stems, by weight, that some sentences of the summary have."""
    read = plan.draft.summary.read
    told = {stem for sentence in sentences for stem in read.table.content_stems(read.ranges[sentence])}
    total = sum(weights.values())
    return sum(weight for stem, weight in weights.items() if stem in told) / total if total else 0.0
