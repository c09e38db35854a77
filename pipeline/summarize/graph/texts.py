"""What a writer answered, with what was measured on it: the form in which results are stored, and their keys."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.gate.findings import Trust
from pipeline.summarize.result import SummaryLayers
from pipeline.summarize.retention import Retention
from pipeline.summarize.steering.wishes import SummaryLength
from pipeline.summarize.storage.records import StepId
from pipeline.summarize.storage.store import SummaryStore
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
        first_chunk: of the stretch that it was written from. The text is used again wherever that stretch stands
            later, and the places in it move along. None in texts of older versions, which stay where they are.
    """

    written: Written
    tokens: int
    retention: Retention
    trust: Trust | None = None
    first_chunk: int | None = None

    @property
    def usage(self) -> LlmUsage:
        """Of the writer."""
        return self.written.usage

    def duplicates_from(self, first_chunk: int) -> list[RemovedDuplicate]:
        """Returns what the writer dropped as said twice, where the text's stretch begins with another chunk."""
        moved = 0 if self.first_chunk is None else first_chunk - self.first_chunk
        return [
            replace(one, kept_chunks=_moved(one.kept_chunks, moved), dropped_chunks=_moved(one.dropped_chunks, moved))
            for one in self.written.duplicates
        ]


def _moved(chunks: tuple[int, int], by: int) -> tuple[int, int]:
    return chunks[0] + by, chunks[1] + by


@dataclass(frozen=True, slots=True)
class UniqueText:
    """A text without the sentences that stood before it, and these sentences.

    Attributes:
        length: asked for and got; of the last text alone, where one was asked for.
    """

    text: str
    removed: tuple[RemovedDuplicate, ...]
    length: SummaryLength | None = None


@dataclass(frozen=True, slots=True)
class VerdictOutcome:
    """A verdict, and what of the document's terms the judged summary has."""

    verdict: Critique
    retention: Retention

    @property
    def usage(self) -> LlmUsage:
        """Of the critic."""
        return self.verdict.usage


TEXT = TypeAdapter(TextOutcome)
UNIQUE = TypeAdapter(UniqueText)
GROUPS = TypeAdapter(list[int])
LAYERS = TypeAdapter(SummaryLayers)
VERDICT = TypeAdapter(VerdictOutcome)
TOPICS = TypeAdapter(TopicList)
WRITTEN = TypeAdapter(Written)
Stored = TypeVar("Stored")


async def read_step(store: SummaryStore, summary_id: str, step: StepId, form: TypeAdapter[Stored]) -> Stored | None:
    """Returns what a step stored; None before it."""
    bodies = await store.bodies(summary_id, step, step.position)
    return form.validate_json(bodies[0][1]) if bodies else None


_EACH = "__all__"
_LABELS: dict[type, dict[str, Any]] = {
    ExtractTask: {
        **dict.fromkeys(("document_name", "batch_index", "batch_count"), True),
        "chunks": {_EACH: {"chunk_index", "page_number"}},
    },
    MergeTask: {
        **dict.fromkeys(("document_name", "level", "group_index", "group_count"), True),
        "extractions": {_EACH: {"chunk_indexes", "pages"}},
    },
    CritiqueTask: {"document_name": True},
    TopicsTask: {"document_name": True},
}
"""What a task says of its place. An answer must not depend on it: the same texts may stand elsewhere tomorrow."""
_FIRST_CHUNKS = (0, 1)  # callers count from either


def task_key(scope: str, task: Task) -> str:
    """Returns the hash of whose an answer is, its texts and what is asked of them; not of where they stand."""
    digest = hashlib.sha256(f"{scope}\n{type(task).__name__}\n{_place(task)}\n".encode())
    digest.update(_TASKS[type(task)].dump_json(task, exclude=_LABELS[type(task)]))
    return digest.hexdigest()


def _place(task: Task) -> tuple[object, ...]:
    """Returns whether the document begins and ends with a task's texts, and how far apart their chunks are."""
    match task:
        case ExtractTask():
            numbers = [chunk.chunk_index for chunk in task.chunks]
            is_first, is_last = task.batch_index == 0, task.batch_index == task.batch_count - 1
        case MergeTask():
            numbers = [number for one in task.extractions for number in one.chunk_indexes]
            is_first, is_last = numbers[0] in _FIRST_CHUNKS, task.group_index == task.group_count - 1
        case _:
            return ()
    return is_first, is_last, tuple(number - numbers[0] for number in numbers)


def text_key(kind: str, text: str) -> str:
    """Returns the key of a text that code made."""
    return hashlib.sha256(f"{kind}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
