"""A judgement, and the events that lead to it: EvidenceReady, every MetricReady in the strict order, Judgement.

There is no EvidenceReady when a text is in a language that is not supported.
"""

from dataclasses import dataclass, field

from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.table import Claim, EvidenceTable
from pipeline.judge.result import Framework, FrameworkResult, MetricResult, SupportVerdict
from pipeline.llm.chat_model import LlmUsage
from pipeline.support.claim_support import ClaimLabel


@dataclass(frozen=True, slots=True)
class JudgeTimings:
    """Where the time went, in milliseconds; waiting for the models included."""

    total_ms: float  # from the request to the last metric
    evidence_ms: float
    scoring_ms: float  # all frameworks, an LLM's answers included


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the frameworks say of one summary."""

    request_hash: str  # SHA-256 of everything the answer depends on: request, settings, models; 64 hexadecimal digits
    # the table that all frameworks share; None when a text is in a language that is not supported
    evidence: EvidenceTable | None
    frameworks: tuple[FrameworkResult, ...]  # those asked for, in the order of `Framework`
    config: JudgeConfig
    language_model: str | None  # identity of the chat model that helped; None without one
    degraded: bool  # whether an LLM's answer was unusable somewhere, so that a deterministic form stood in for it
    # what a reader should know of how the answer came about, for example tool scores that were dropped
    notes: tuple[str, ...]
    is_cached: bool  # True when an earlier, equal request computed it
    timings: JudgeTimings  # of the request that computed it
    # what the chat model's answers cost this request; nothing when another one had paid
    language_model_usage: LlmUsage = field(default_factory=LlmUsage)

    @property
    def claim_count(self) -> int:
        """Claims of the summary."""
        return self.checked_claim_count + (self.evidence.omitted_claim_count if self.evidence else 0)

    @property
    def checked_claim_count(self) -> int:
        """Of those, the ones that were checked."""
        return len(self._claims)

    @property
    def unsupported_claim_count(self) -> int:
        """Of those, the ones that the source does not support."""
        return sum(claim.label is ClaimLabel.UNSUPPORTED for claim in self._claims)

    @property
    def second_read_claim_count(self) -> int:
        """Of those, the ones that a language model has read again."""
        return sum(claim.second_reading is not None for claim in self._claims)

    @property
    def second_agreed_claim_count(self) -> int:
        """Of those, the ones of which both readers say the same."""
        return sum(bool(claim.second_reading and claim.second_reading.is_agreed) for claim in self._claims)

    @property
    def worst_claim_score(self) -> float | None:
        """10 x the probability of the least supported claim, which a mean can hide; None without claims."""
        probabilities = [claim.probability for claim in self._claims]
        return round(10 * min(probabilities), 2) if probabilities else None

    @property
    def verdict(self) -> SupportVerdict:
        """Whether the source supports the summary, read from its worst claim: of people's verdicts it meets more."""
        if self.unsupported_claim_count:
            return SupportVerdict.HAS_UNSUPPORTED
        are_supported = all(claim.label is ClaimLabel.SUPPORTED for claim in self._claims)
        is_decided = are_supported and 0 < self.claim_count == self.checked_claim_count
        return SupportVerdict.SUPPORTED if is_decided else SupportVerdict.ABSTAINED

    @property
    def table(self) -> EvidenceTable:
        """The evidence, of a judgement of English texts. Raises ValueError without."""
        if self.evidence is None:
            raise ValueError("there is no evidence: source or summary is not English")
        return self.evidence

    @property
    def _claims(self) -> tuple[Claim, ...]:
        return self.evidence.claims if self.evidence else ()

    def __getitem__(self, framework: Framework) -> FrameworkResult:
        """Returns one framework's verdict. Raises KeyError if it was not asked for."""
        return {result.framework: result for result in self.frameworks}[framework]


@dataclass(frozen=True, slots=True)
class EvidenceReady:
    """The evidence is complete; scoring begins."""

    evidence: EvidenceTable


@dataclass(frozen=True, slots=True)
class MetricReady:
    """One metric of one framework. Frameworks follow each other, each with its five metrics in their order."""

    framework: Framework
    metric: MetricResult


JudgeEvent = EvidenceReady | MetricReady | Judgement
"""One event; the judgement comes once, last."""
