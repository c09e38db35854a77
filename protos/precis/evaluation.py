"""What `Client.evaluate` takes and returns: the golden reference, and the loss of a summary against it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from precis.v1 import evaluate_pb2


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The loss of one summary, and the scores that it is made of.

    A score is in [0, 1], 1 is perfect. It is None after a hard fail, and when the golden reference has nothing to
    compare with.

    Attributes:
        loss: in [0, 1]; 0 is perfect, 1 the worst.
        hard_fail: why the loss is 1 before any model ran; None when no such rule fired.
        facts: the reference's facts that the summary tells, and the summary's sentences that the reference supports.
        entities: the reference's names that are there, in the right context.
        flow: the reference's outline, covered and in order.
        semantic: cosine of the embeddings.
        length: distance from the target length.
        message: everything that the server sent.
    """

    loss: float
    hard_fail: str | None
    facts: float | None
    entities: float | None
    flow: float | None
    semantic: float | None
    length: float | None
    message: evaluate_pb2.EvaluateResponse = field(repr=False)


def gold_standard(
    source: str,
    summary: str,
    *,
    key_facts: Iterable[str] = (),
    logical_outline: Iterable[str] = (),
    entity_list: Iterable[str] = (),
    main_theme: str = "",
) -> evaluate_pb2.GoldStandardDatum:
    """Builds the golden reference of one document.

    Args:
        source: the document.
        summary: a dense, coherent narrative summary of it.
        key_facts: 10 to 20 statements with exactly one piece of information each. None: facts are not scored.
        logical_outline: the document's progression, point by point. None: flow is not scored.
        entity_list: people, organizations, technologies and laws. None: entities are not scored.
        main_theme: one sentence on the topic and scope of the document.
    """
    return evaluate_pb2.GoldStandardDatum(
        entry=evaluate_pb2.GoldStandardEntry(text=source),
        summary=evaluate_pb2.GoldStandardSummary(
            main_theme=main_theme,
            summary=summary,
            key_facts=key_facts,
            logical_outline=logical_outline,
            entity_list=entity_list,
        ),
    )


def to_evaluation(response: evaluate_pb2.EvaluateResponse) -> Evaluation:
    """Wraps a response."""
    return Evaluation(
        loss=response.loss,
        hard_fail=response.hard_fail.reason if response.HasField("hard_fail") else None,
        facts=_score(response.facts.score),
        entities=_score(response.entities.score),
        flow=_score(response.flow.score),
        semantic=_score(response.semantic.score),
        length=_score(response.length.score),
        message=response,
    )


def _score(component: evaluate_pb2.ComponentScore) -> float | None:
    return component.score if component.applicable else None
