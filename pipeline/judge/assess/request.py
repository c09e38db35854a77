"""What is to be assessed: a summary with its source, or images, or scores of the caller's own tools."""

from dataclasses import dataclass, replace

from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import FusionForm
from pipeline.judge.images.image import Image, read_image
from pipeline.judge.synthesis.check import check_request, mapped_scores
from pipeline.judge.synthesis.config import SynthesisLimits
from pipeline.judge.synthesis.evidence import GLOBAL, Evidence, ToolScore
from pipeline.judge.synthesis.request import Mode, SynthesisRequest

MOST_REPLANS = 5


@dataclass(frozen=True, slots=True)
class AssessRequest:
    """A question about quality.

    Attributes:
        question: the caller's.
        mode: kind of answer; None: the planner sees from the question.
        scope: what the question is about; None: the planner sees from the question.
        choices: answers to choose from; empty for an open answer.
        source: text to assess; with `summary`, or empty.
        summary: likewise.
        images: files to assess.
        reference: the undistorted original of the first image.
        tool_scores: of the caller's own tools; kept through every iteration.
        eta: how fast level weights fall around the tools' mean.
        form: how tools and level probabilities are fused.
        max_replan_iterations: how often to plan again, 0 to 5.
    """

    question: str
    mode: Mode | None = None
    scope: tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    source: str = ""
    summary: str = ""
    images: tuple[bytes, ...] = ()
    reference: bytes | None = None
    tool_scores: tuple[ToolScore, ...] = ()
    eta: float = 1.0
    form: FusionForm = FusionForm.NORMALIZED
    max_replan_iterations: int = 2


@dataclass(frozen=True, slots=True)
class CheckedAssessment:
    """A request whose every part can be worked with.

    Attributes:
        request: with scores mapped to [1, 5], and without those that are NaN.
        images: checked.
        reference: likewise; None without one.
        notes: what was left out.
    """

    request: AssessRequest
    images: tuple[Image, ...]
    reference: Image | None
    notes: tuple[str, ...]

    @property
    def has_text(self) -> bool:
        """Whether there is a summary to judge."""
        return bool(self.request.summary.strip())


def check_assessment(request: AssessRequest, limits: SynthesisLimits) -> CheckedAssessment:
    """Checks all parts but source and summary themselves, which the judge checks.

    Raises:
        InvalidInputError: for the first that breaks a rule.
    """
    if bool(request.source.strip()) != bool(request.summary.strip()):
        field = "source" if request.summary.strip() else "summary"
        raise InvalidInputError(field, "source and summary together, or neither", "only the other one")
    if not (request.summary.strip() or request.images or request.tool_scores):
        raise InvalidInputError("images", "an image, a source with a summary, or a tool score to assess", "nothing")
    if not 0 <= request.max_replan_iterations <= MOST_REPLANS:
        got = str(request.max_replan_iterations)
        raise InvalidInputError("options.max_replan_iterations", f"0 to {MOST_REPLANS}", got)
    scores, notes = mapped_scores(request.tool_scores, "tool_scores")
    mode = request.mode or Mode.EXPLANATION
    asked = SynthesisRequest(
        question=request.question,
        mode=mode,
        evidence=Evidence({}, scores),
        scope=(GLOBAL,) if request.scope is None else request.scope,
        choices=request.choices,
        images=request.images,
        eta=request.eta,
    )
    try:
        images = check_request(asked, limits).images
    except InvalidInputError as error:
        raise InvalidInputError(error.field.removeprefix("evidence."), error.expected, error.got) from None
    return CheckedAssessment(replace(request, tool_scores=scores), images, _reference(request, images, limits), notes)


def _reference(request: AssessRequest, images: tuple[Image, ...], limits: SynthesisLimits) -> Image | None:
    if request.reference is None:
        return None
    if not images:
        raise InvalidInputError("reference", "an image that it is the reference of", "none")
    reference = read_image(request.reference, limits.images, path="reference")
    first = images[0]
    if (reference.width, reference.height) != (first.width, first.height):
        expected = f"the size of {first.path}, {first.width} x {first.height}"
        raise InvalidInputError("reference", expected, f"{reference.width} x {reference.height}")
    return reference
