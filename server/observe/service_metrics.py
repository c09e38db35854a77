"""Prometheus metrics of judgements: how many metrics were scored, abstained from, or failed.

Prometheus metrics of answers to questions about quality: kinds, attempts, and how often and why evidence was missing.

Prometheus metrics of summaries. Every label has a few fixed values.
"""

from precis.v1 import summarize_pb2 as pb
from prometheus_client import CollectorRegistry, Gauge

from pipeline.assess.request import Mode
from pipeline.assess.result import DETERMINISTIC, ReplanReason, Synthesis
from pipeline.assess.run import AssessEvent, Assessment, AssessPlan, Synthesized
from pipeline.evaluate.result import Evaluation
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import MetricStatus
from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.events import CallOutcome, SummaryObserver
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.storage.records import Stage, SummaryStatus
from server.backends import ChosenWriter
from server.observe.metrics import SECONDS, Makers

LOSSES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class EvaluateMetrics:
    """Counts evaluations by their losses."""

    def __init__(self, registry: CollectorRegistry) -> None:
        make = Makers(registry)
        self._losses = make.histogram("evaluation_loss", "Losses; 1 after a hard fail.", LOSSES)
        text = "Scores of evaluations without a hard fail."
        self._scores = make.histogram("evaluation_score", text, LOSSES, component=None)

    def observe(self, evaluation: Evaluation) -> None:
        """Counts one evaluation."""
        self._losses.observe(evaluation.loss)
        for score in filter(lambda score: score.applicable, evaluation.scores):
            self._scores.labels(score.name).observe(score.score)


class JudgeMetrics:
    """Counts judgements and their metrics."""

    def __init__(self, registry: CollectorRegistry) -> None:
        make = Makers(registry)
        self._judgements = make.counter("judgements", "Judgements made, or answered from the cache.", cached=None)
        text = "Metrics of judgements made."
        self._metrics = make.counter("judged_metrics", text, framework=None, metric=None, status=None)
        text = "Scores of judgements made, without those that Ultra abstains from."
        self._scores = make.histogram("judged_score", text, range(11), framework=None, metric=None)

    def observe(self, judgement: Judgement) -> None:
        """Counts one judgement. The metrics of a cached one were counted when it was made."""
        self._judgements.labels(str(judgement.is_cached).lower()).inc()
        if judgement.is_cached:
            return
        for result in judgement.frameworks:
            for metric in result.metrics:
                self._metrics.labels(result.framework, metric.name, metric.status).inc()
                if metric.score is not None and metric.status is not MetricStatus.ABSTAINED:
                    self._scores.labels(result.framework, metric.name).observe(metric.score)


class AnswerMetrics:
    """Counts answers of Synthesize and Assess, and replanning."""

    def __init__(self, registry: CollectorRegistry) -> None:
        make = Makers(registry)
        text = "Answers, by rpc, kind and who answered."
        self._answers = make.counter("answers", text, rpc=RPCS, mode=Mode, author=AUTHORS)
        self._attempts = make.counter("answer_attempts", "Answers that a language model was asked for.", rpc=RPCS)
        text = "What answers lacked; one may lack several things."
        self._needs = make.counter("replan_needs", text, rpc=RPCS, reason=ReplanReason)
        text = "Plans of Assess after the first, by what they were to find."
        self._replans = make.counter("replans", text, reason=ReplanReason)
        text = "Assessments that ended, by their last step."
        self._ended = make.counter("assessments", text, stage=("answer", "evidence", "plan"))
        text = "Replannings of one assessment that answered."
        self._iterations = make.histogram("assess_replans", text, range(6))

    def synthesized(self, synthesis: Synthesis, rpc: str = "synthesize") -> None:
        """Counts one answer."""
        kind = DETERMINISTIC if synthesis.author == DETERMINISTIC else "language_model"
        author = "degraded" if synthesis.degraded else kind
        self._answers.labels(rpc, synthesis.mode, author).inc()
        self._attempts.labels(rpc).inc(synthesis.attempt_count)
        for need in synthesis.replan_needs:
            self._needs.labels(rpc, need.reason).inc()

    def assess_event(self, event: AssessEvent) -> None:
        """Counts what an event of an assessment tells."""
        match event:
            case AssessPlan():
                for need in event.needs:
                    self._replans.labels(need.reason).inc()
            case Synthesized():
                self.synthesized(event.synthesis, "assess")
            case Assessment():
                stage = "answer" if event.synthesis else "evidence" if event.evidence else "plan"
                self._ended.labels(stage).inc()
                if event.synthesis:
                    self._iterations.observe(event.iteration_count)


RPCS = ("synthesize", "assess")
AUTHORS = (DETERMINISTIC, "language_model", "degraded")


STAGES = (Stage.MAP, Stage.COMPRESS, Stage.REDUCE, Stage.REFLECT, Stage.TOPICS, Stage.JSON)


class SummaryMetrics(SummaryObserver):
    """Counts runs and calls."""

    def __init__(self, registry: CollectorRegistry) -> None:
        make = Makers(registry)
        text = "Runs that began; resumed: of a summary that ran before."
        self._started = make.counter("summaries_started", text, how=("new", "resumed"))
        ends = (SummaryStatus.DONE, SummaryStatus.FAILED, SummaryStatus.CANCELLED)
        self._ended = make.counter("summaries_ended", "Runs that ended, by status.", status=ends)
        self._stored = make.counter("summaries_answered_from_store", "Requests answered with a result that was there.")
        self._calls = make.counter("summary_calls", "Planned calls that ended.", phase=STAGES, outcome=CallOutcome)
        text = "Tokens of the calls that were made."
        self._tokens = make.counter("summary_tokens", text, phase=STAGES, kind=("prompt", "completion"))
        self._active = Gauge("precis_summaries_active", "Runs in progress.", registry=registry)
        self._writer = Gauge("precis_summary_writer", "1 for who writes.", ["kind", "identity"], registry=registry)
        self._seconds = make.histogram("summary_seconds", "Time of a run that was done.", SECONDS)
        text = "Share of a document's technical terms that its summary has, of runs that were done."
        shares = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)  # a summary of the usual length keeps .15
        self._retained = make.histogram("summary_retained_share", text, shares)
        text = "Time of a call that was made, its retries and waits included."
        self._call_seconds = make.histogram("summary_call_seconds", text, SECONDS, phase=STAGES)

    def written_by(self, chosen: ChosenWriter | None) -> None:
        """Notes who writes, once, when the server starts."""
        if chosen is not None:
            kind = pb.WriterKind.Name(chosen.kind).removeprefix("WRITER_KIND_").lower()
            self._writer.labels(kind, chosen.writer.identity).set(1)

    def answered_from_store(self) -> None:
        """See SummaryObserver."""
        self._stored.inc()

    def run_started(self, *, is_resumed: bool) -> None:
        """See SummaryObserver."""
        self._started.labels("resumed" if is_resumed else "new").inc()
        self._active.inc()

    def run_ended(self, status: SummaryStatus, result: SummaryResult | None) -> None:
        """See SummaryObserver."""
        self._active.dec()
        self._ended.labels(status).inc()
        if status is SummaryStatus.DONE and result is not None:
            self._seconds.observe(result.elapsed_s)
            if result.retention is not None:
                self._retained.observe(result.retention.share)

    def call_ended(self, stage: Stage, outcome: CallOutcome, call_s: float, usage: LlmUsage) -> None:
        """See SummaryObserver."""
        self._calls.labels(stage, outcome).inc()
        if outcome is CallOutcome.MADE:
            self._call_seconds.labels(stage).observe(call_s)
            self._tokens.labels(stage, "prompt").inc(usage.prompt_tokens)
            self._tokens.labels(stage, "completion").inc(usage.completion_tokens)
