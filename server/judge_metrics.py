"""Prometheus metrics of judgements: how many metrics were scored, abstained from, or failed."""

from prometheus_client import CollectorRegistry, Counter

from pipeline.judge.judgement import Judgement


class JudgeMetrics:
    """Counts judgements and their metrics."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._judgements = Counter(
            "precis_judgements", "Judgements made, or answered from the cache.", ["cached"], registry=registry
        )
        self._metrics = Counter(
            "precis_judged_metrics", "Metrics of judgements made.", ["framework", "metric", "status"], registry=registry
        )

    def observe(self, judgement: Judgement) -> None:
        """Counts one judgement. The metrics of a cached one were counted when it was made."""
        self._judgements.labels(str(judgement.cached).lower()).inc()
        if judgement.cached:
            return
        for result in judgement.frameworks:
            for metric in result.metrics:
                self._metrics.labels(result.framework, metric.name, metric.status).inc()
