"""What is to be assessed, checked; and the tools that may be run on it."""

from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.assess.images.image import Image, read_image
from pipeline.assess.images.tools import COMPARING, ImageTool
from pipeline.assess.synthesis.config import SynthesisLimits
from pipeline.assess.synthesis.evidence import GLOBAL, Evidence, ToolScore
from pipeline.assess.synthesis.request import Mode, SynthesisRequest, check_request
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import FusionForm
from pipeline.judge.result import Framework, MetricName

MOST_REPLANS = 5


class AssessStage(StrEnum):
    """How far an assessment goes."""

    PLAN = "plan"  # the planner alone
    EVIDENCE = "evidence"  # planner and executor
    ANSWER = "answer"  # all of it, and again while evidence is missing


@dataclass(frozen=True, slots=True)
class AssessRequest:
    """A question about quality.

    Attributes:
        mode: kind of answer; None: the planner sees from the question.
        scope: what the question is about; None: the planner sees from the question.
        choices: answers to choose from; empty for an open answer.
        source: text to assess; with `summary`, or empty.
        summary: likewise.
        reference: the undistorted original of the first image.
        tool_scores: of the caller's own tools; kept through every iteration.
        eta: how fast level weights fall around the tools' mean.
        form: how tools and level probabilities are fused.
        max_replan_iterations: how often to plan again, 0 to 5.
        stage: the last step to take; only an answer leads to another plan.
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
    stage: AssessStage = AssessStage.ANSWER


@dataclass(frozen=True, slots=True)
class CheckedAssessment:
    """A request whose every part can be worked with.

    Attributes:
        request: with scores mapped to [1, 5], and without those that are NaN.
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
    """Checks all parts but source and summary, which the judge checks. Raises InvalidInputError for the first."""
    if bool(request.source.strip()) != bool(request.summary.strip()):
        field = "source" if request.summary.strip() else "summary"
        raise InvalidInputError(field, "source and summary together, or neither", "only the other one")
    if not (request.summary.strip() or request.images or request.tool_scores):
        raise InvalidInputError("images", "an image, a source with a summary, or a tool score to assess", "nothing")
    if not 0 <= request.max_replan_iterations <= MOST_REPLANS:
        got = str(request.max_replan_iterations)
        raise InvalidInputError("options.max_replan_iterations", f"0 to {MOST_REPLANS}", got)
    asked = SynthesisRequest(
        question=request.question,
        mode=request.mode or Mode.EXPLANATION,
        evidence=Evidence({}, request.tool_scores),
        scope=(GLOBAL,) if request.scope is None else request.scope,
        choices=request.choices,
        images=request.images,
        eta=request.eta,
    )
    try:
        checked = check_request(asked, limits)
    except InvalidInputError as error:
        raise error.at(error.field.removeprefix("evidence.")) from None
    return CheckedAssessment(
        request=replace(request, tool_scores=checked.request.evidence.tool_scores),
        images=checked.images,
        reference=_reference(request, checked.images, limits),
        notes=tuple(note.removeprefix("evidence.") for note in checked.notes),
    )


def _reference(request: AssessRequest, images: tuple[Image, ...], limits: SynthesisLimits) -> Image | None:
    if request.reference is None:
        return None
    if not images:
        raise InvalidInputError("reference", "an image that it is the reference of", "none")
    reference = read_image(request.reference, limits.images, path="reference")
    images[0].check_reference(reference)
    return reference


OVERALL = ""
"""The distortion of a tool that measures quality as a whole."""

FIRST_OPINION = Framework.ULTRA


@dataclass(frozen=True, slots=True)
class AssessTool:
    """One tool: a metric of a framework, or a measure of images; exactly one of `metric` and `image_tool` is there.

    Attributes:
        name: for plans and events, for example "ultra.hallucination" or "blur".
        distortion: what it measures; `OVERALL` for quality as a whole.
    """

    name: str
    distortion: str
    framework: Framework | None = None
    metric: MetricName | None = None
    image_tool: ImageTool | None = None

    @property
    def is_second_opinion(self) -> bool:
        """Whether it measures what another tool measures, and is run only when that one is in doubt."""
        return self.framework is not None and self.framework is not FIRST_OPINION


def available_tools(checked: CheckedAssessment) -> tuple[AssessTool, ...]:
    """Returns the tools for what there is to assess: first opinions first."""
    frameworks = sorted(Framework, key=lambda framework: framework is not FIRST_OPINION) if checked.has_text else []
    texts = [
        AssessTool(f"{framework.value}.{metric.value}", metric.value, framework, metric)
        for framework in frameworks
        for metric in MetricName
    ]
    measures = [tool for tool in ImageTool if checked.reference is not None or tool not in COMPARING]
    images = [
        AssessTool(tool.value, OVERALL if tool in COMPARING else tool.value, image_tool=tool)
        for tool in (measures if checked.images else ())
    ]
    return (*texts, *images)
