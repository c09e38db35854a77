"""What can go wrong while a summary is judged, besides what `pipeline/errors.py` names.

PipelineError
└── MetricError    one metric has nothing to be computed from; the others are scored all the same
"""

from pipeline.errors import PipelineError


class MetricError(PipelineError):
    """One metric cannot be computed. Becomes its `{"error": "<reason>"}`.

    Attributes:
        reason: snake_case word, then what it means; never the caller's text.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
