"""Requests for an assessment as domain types. What a caller gets wrong becomes an InvalidInputError with its path."""

from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.request import AssessRequest
from server.enum_numbers import meaning_of
from server.parse_synthesis import (
    MODES,
    parse_eta,
    parse_form,
    parse_quality_scope,
    parse_quality_scores,
)

DEFAULT_MAX_REPLAN_ITERATIONS = 2


def parse_assess(request: pb.AssessRequest) -> AssessRequest:
    """Reads a request.

    Raises:
        InvalidInputError: an unknown enum number, a scope that is none, or a mapping that is none. Texts, images,
            sizes and scores are left to the assessor.
    """
    options = request.options
    has_limit = options.HasField("max_replan_iterations")
    return AssessRequest(
        question=request.question,
        mode=meaning_of(MODES, request.mode, "mode") if request.mode else None,
        scope=parse_quality_scope(request.scope) if request.HasField("scope") else None,
        choices=tuple(request.choices),
        source=request.source,
        summary=request.summary,
        images=tuple(request.images),
        reference=request.reference or None,
        tool_scores=parse_quality_scores(request.tool_scores, "tool_scores"),
        eta=parse_eta(options),
        form=parse_form(options),
        max_replan_iterations=options.max_replan_iterations if has_limit else DEFAULT_MAX_REPLAN_ITERATIONS,
    )
