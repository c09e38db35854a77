"""The tools that an assessment may run, and what each of them measures."""

from dataclasses import dataclass

from pipeline.judge.assess.request import CheckedAssessment
from pipeline.judge.framework import Framework
from pipeline.judge.images.mappings import ImageTool
from pipeline.judge.metric import MetricName

OVERALL = ""
"""The distortion of a tool that measures quality as a whole."""

FIRST_OPINION = Framework.ULTRA
_COMPARING = (ImageTool.SSIM, ImageTool.PSNR)


@dataclass(frozen=True, slots=True)
class AssessTool:
    """One tool: a metric of a framework, or a measure of images; exactly one of `metric` and `image_tool` is there.

    Attributes:
        name: for plans and events, for example "ultra.hallucination" or "blur".
        distortion: what it measures; `OVERALL` for quality as a whole.
        framework: of a metric.
        metric: of a text.
        image_tool: of an image.
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
    measures = [tool for tool in ImageTool if checked.reference is not None or tool not in _COMPARING]
    images = [
        AssessTool(tool.value, OVERALL if tool in _COMPARING else tool.value, image_tool=tool)
        for tool in (measures if checked.images else ())
    ]
    return (*texts, *images)
