"""What a writer answered, with what was measured on it: the form in which results are stored, and their keys."""

import hashlib
from dataclasses import dataclass

from pydantic import TypeAdapter

from pipeline.summarize.retention import Retention
from pipeline.summarize.trust.findings import Trust
from pipeline.summarize.writer import (
    Critique,
    CritiqueTask,
    ExtractTask,
    MergeTask,
    RemovedDuplicate,
    TopicList,
    TopicsTask,
    Written,
)

Task = ExtractTask | MergeTask | CritiqueTask | TopicsTask

_TASKS: dict[type, TypeAdapter[Task]] = {
    kind: TypeAdapter(kind) for kind in (ExtractTask, MergeTask, CritiqueTask, TopicsTask)
}


@dataclass(frozen=True, slots=True)
class TextOutcome:
    """A text.

    Attributes:
        retention: the terms of the task's texts in the answer.
        trust: what the gate found; None without a gate.
    """

    written: Written
    tokens: int
    retention: Retention
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class UniqueText:
    """A text without the sentences that stood before it, and these sentences."""

    text: str
    removed: tuple[RemovedDuplicate, ...]


@dataclass(frozen=True, slots=True)
class VerdictOutcome:
    """A verdict, and what of the document's terms the judged summary has."""

    verdict: Critique
    retention: Retention


TEXT = TypeAdapter(TextOutcome)
UNIQUE = TypeAdapter(UniqueText)
VERDICT = TypeAdapter(VerdictOutcome)
TOPICS = TypeAdapter(TopicList)


def task_key(scope: str, task: Task) -> str:
    """Returns the hash of all that an answer depends on, and of whose it is."""
    digest = hashlib.sha256(f"{scope}\n{type(task).__name__}\n".encode())
    digest.update(_TASKS[type(task)].dump_json(task))
    return digest.hexdigest()


def text_key(kind: str, text: str) -> str:
    """Returns the key of a text that code made."""
    return hashlib.sha256(f"{kind}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
