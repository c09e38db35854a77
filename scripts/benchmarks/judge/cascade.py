"""A second reader of development claims, scripted to be right so often: what it brings, and whether it is let in.

Verdicts are drawn with a fixed seed. Band and rates are fitted without a claim's document.
"""

from collections.abc import Sequence

import numpy as np

from pipeline.agreement.reader_study import ReadClaims, study_second_reader
from scripts.benchmarks.judge.results import Results
from scripts.claim_training.measure import Claims

READERS = {"cascade_bacc_60": 0.6, "cascade_bacc_80": 0.8, "cascade_bacc": 0.9, "cascade_bacc_95": 0.95}
"""How often each is right, by the key of what both together reach."""

_SEED = 7


def measure_cascade(claims: Claims, documents: Sequence[str], results: Results) -> None:
    """Measures readers of several accuracies on the same claims."""
    groups = np.unique(np.array(documents), return_inverse=True)[1]
    right = np.random.default_rng(_SEED).random(len(groups))
    for key, accuracy in READERS.items():
        verdicts = np.where(right < accuracy, claims.supported, ~claims.supported).astype(np.float64)
        found = study_second_reader(ReadClaims(claims.probabilities, verdicts, claims.supported, groups))
        asked = f"asks {found.asked_share:.2f}, gain {found.gain}, {'let in' if found.helps else 'left out'}"
        results.add(
            f"with a second reader right {accuracy:.0%} of the time, balanced accuracy", found.after.value, asked
        )
        results.figures |= {
            key: found.after.value,
            f"{key}_asked": found.asked_share,
            f"{key}_let_in": found.helps,
        }
