"""Client of a Precis server: judges, evaluates and summarizes in one line each.

    import precis

    with precis.Client("127.0.0.1:50051") as client:
        print(client.judge(source, summary).hallucination)

Public are the names below, `precis.errors`, `precis.local` (clients without a server) and the messages in `precis.v1`.
Each is loaded when it is first used, so that `import precis` costs nothing and `import precis.v1.judge_pb2` no more
than the messages.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from precis import errors
    from precis.async_client import AsyncClient
    from precis.async_summary_stream import AsyncSummaryStream
    from precis.batch import BatchItem
    from precis.citations import cite_pages
    from precis.client import Client
    from precis.connection import Tls
    from precis.errors import PrecisError
    from precis.evaluation import Evaluation, gold_standard
    from precis.judgement import Claim, FrameworkScores, Judgement, Metric, Mismatch
    from precis.retry import SERVICE_CONFIG, RetryPolicy
    from precis.summarization import run_summarization
    from precis.summary_progress import SummaryStep
    from precis.summary_stream import SummaryStream

    __version__: str

__all__ = [
    "SERVICE_CONFIG",
    "AsyncClient",
    "AsyncSummaryStream",
    "BatchItem",
    "Claim",
    "Client",
    "Evaluation",
    "FrameworkScores",
    "Judgement",
    "Metric",
    "Mismatch",
    "PrecisError",
    "RetryPolicy",
    "SummaryStep",
    "SummaryStream",
    "Tls",
    "__version__",
    "cite_pages",
    "errors",
    "gold_standard",
    "run_summarization",
]

_HOMES = {
    "AsyncClient": "async_client",
    "AsyncSummaryStream": "async_summary_stream",
    "BatchItem": "batch",
    "Claim": "judgement",
    "Client": "client",
    "Evaluation": "evaluation",
    "FrameworkScores": "judgement",
    "Judgement": "judgement",
    "Metric": "judgement",
    "Mismatch": "judgement",
    "PrecisError": "errors",
    "RetryPolicy": "retry",
    "SERVICE_CONFIG": "retry",
    "SummaryStep": "summary_progress",
    "SummaryStream": "summary_stream",
    "Tls": "connection",
    "cite_pages": "citations",
    "gold_standard": "evaluation",
    "run_summarization": "summarization",
}

if not TYPE_CHECKING:  # a type checker that saw this function would take every misspelt name for an Any

    def __getattr__(name: str) -> object:
        """Loads a public name when it is first used."""
        if name == "__version__":
            value = import_module("importlib.metadata").version("precis-client")
        elif name == "errors":
            value = import_module("precis.errors")
        elif name in _HOMES:
            value = getattr(import_module(f"precis.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module 'precis' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Lists what is loaded and what can be."""
        return sorted({*globals(), *__all__})
