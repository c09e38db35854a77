"""What probabilities and comparisons say about a claim (SCORING, section 2)."""

from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.table import Covered, Label

_WORSE = {Label.SUPPORTED: Label.PARTIAL, Label.PARTIAL: Label.UNSUPPORTED, Label.UNSUPPORTED: Label.UNSUPPORTED}


def label_of(entailment: float, contradiction: float, config: EvidenceConfig) -> Label:
    """Returns the label of a claim from the probabilities; inclusive thresholds as the rules write them."""
    is_contradicted = contradiction >= config.contradicted and contradiction > entailment
    if entailment < config.partial_entailment or is_contradicted:
        return Label.UNSUPPORTED
    if entailment >= config.supported_entailment and contradiction < config.supported_contradiction:
        return Label.SUPPORTED
    return Label.PARTIAL


def demote(label: Label) -> Label:
    """Returns the next worse label; the worst stays."""
    return _WORSE[label]


def covered_of(share: float, config: EvidenceConfig) -> Covered:
    """Returns how much of a key point is told; a share on an edge takes the lower band."""
    if share > config.fully_covered:
        return Covered.FULLY
    return Covered.NOT if share < config.partly_covered else Covered.PARTIAL
