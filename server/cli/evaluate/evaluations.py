"""Evaluates a few summaries or many: what is read, what the losses amount to, and their page with all evidence."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from precis.calls import evaluate
from precis.evaluation import to_evaluation
from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb

from server.cli.bulk import Work
from server.cli.connection import CommandClient
from server.cli.console import counted, number
from server.cli.documents.read import document_name, read_document_text
from server.cli.errors import InputError
from server.cli.evaluate import table
from server.cli.files import naming, parse_message, read_object
from server.cli.page.marks import Mark, MarkedText, Role, cut
from server.cli.tally import ItemRow, Tally


@dataclass(frozen=True, slots=True)
class Candidate:
    """One summary to evaluate, and what to call it in the output."""

    id: str
    request: pb.EvaluateRequest

    @property
    def category(self) -> str:
        """The caller's word for the kind of document."""
        return self.request.datum.entry.category

    def sha256(self, *terms: str) -> str:
        """Hashes the candidate and the terms on which it is evaluated, in hexadecimal."""
        request = self.request.SerializeToString(deterministic=True)
        return hashlib.sha256(json.dumps([self.id, request.hex(), *terms]).encode()).hexdigest()


def read_candidates(path: Path, summaries: Sequence[Path]) -> list[Candidate]:
    """Reads one JSON document.

    Args:
        path: the file, "-" for standard input. Its fields are those of EvaluateRequest; `candidates`, a list of named
            summaries, may stand in place of `generated`. With `summaries` a bare GoldStandardDatum will do.
        summaries: files, each one more candidate, named after the file.

    Raises:
        InputError: a file cannot be read, or does not hold what it should.
    """
    document = read_object(path)
    others = [(document_name(file), {"text": read_document_text(file)}) for file in summaries]
    with naming(path):
        if {"entry", "summary"} <= document.keys():
            document = {"datum": document}
        named = _named_summaries(document) + others
        if not named:
            raise InputError("nothing to evaluate: add `generated` or `candidates`, or give --summary FILE")
        shared = {name: value for name, value in document.items() if name not in ("generated", "candidates")}
        candidates = []
        for name, fields in named:
            with naming(name):
                candidates.append(Candidate(name, to_request({**shared, "generated": fields})))
        return candidates


def _named_summaries(document: Mapping[str, Any]) -> list[tuple[str, Any]]:
    if "generated" in document and "candidates" in document:
        raise InputError("`generated` and `candidates` exclude each other")
    if "generated" in document:
        return [("generated", document["generated"])]
    candidates = document.get("candidates", [])
    if not isinstance(candidates, list) or not all(isinstance(candidate, dict) for candidate in candidates):
        raise InputError("`candidates` must be a list of objects with `name` and `text`")
    return [
        (str(candidate.get("name", f"candidate {position}")), {k: v for k, v in candidate.items() if k != "name"})
        for position, candidate in enumerate(candidates, start=1)
    ]


def parse_line(fields: dict[str, Any], place: str) -> Candidate:
    """Reads one line: the fields of EvaluateRequest, and optionally an `id`. Raises InputError."""
    return Candidate(str(fields.pop("id", place)), to_request(fields))


def to_request(fields: dict[str, Any]) -> pb.EvaluateRequest:
    """Turns plain data into a request. Raises InputError for an unknown field or a wrong type."""
    request = parse_message(fields, pb.EvaluateRequest())
    request.view = request.view or common_pb2.RESULT_VIEW_FULL  # the tables and --output show all
    return request


@dataclass
class EvaluateTally(Tally[Candidate, pb.EvaluateResponse]):
    """Collects what many evaluations, or a few, amount to."""

    headline_name = "loss"
    digits = 3
    top = 1.0
    noun = "Evaluation"
    limit_words = "loss over the limit"
    terminal: ClassVar[Any] = table
    template = "evaluations.html"
    script = "items.js"
    fail_over: float | None = None  # a loss over this is a fault; None for none
    hard_fail_count: int = 0

    def take(self, item: Candidate, response: pb.EvaluateResponse, /, *, is_kept: bool) -> ItemRow:
        """See Tally."""
        loss, rule = response.loss, table.hard_fail_rule(response)
        evaluation = to_evaluation(response)
        scores = {name: getattr(evaluation, name) for name in table.COMPONENTS}
        self.hard_fail_count += bool(rule)
        return ItemRow(
            item.id,
            item.category,
            headline=loss,
            badness=loss,
            scores={"loss": loss, **scores},
            statuses=[rule] if rule else [],
            faults=[f"{loss:.4f} > {self.fail_over}"] if self.fail_over is not None and loss > self.fail_over else [],
            cells={
                "loss": (f"{loss:.3f}", "high-cell"),
                **{name: (number(score), "") for name, score in scores.items()},
                "status": (rule, ""),
            },
            bars={"Items by loss": loss},
        )

    def shown_of(self, item: Candidate) -> Candidate:
        """Keeps what a page shows: not the document, which may be a book."""
        request = pb.EvaluateRequest(generated=item.request.generated)
        request.datum.summary.CopyFrom(item.request.datum.summary)
        return Candidate(item.id, request)

    def counts(self) -> list[str]:
        """See Tally."""
        return [counted(self.hard_fail_count, "hard fail")]

    @staticmethod
    def pieces_of(candidate: Candidate, response: pb.EvaluateResponse) -> list[MarkedText]:
        """Cuts the summary where its sentences begin and end."""
        sentences = [one.hypothesis for one in response.facts.sentences]
        marks = [Mark(Role.CLAIM, number, one.start, one.end) for number, one in enumerate(sentences, start=1)]
        return cut(candidate.request.generated.text, marks)


def to_work(*, is_bulk: bool) -> Work[Candidate, pb.EvaluateResponse]:
    """Describes how candidates are evaluated; what a request says itself is left as it is."""
    priority = common_pb2.PRIORITY_BULK if is_bulk else common_pb2.PRIORITY_INTERACTIVE

    async def send(client: CommandClient, candidate: Candidate) -> pb.EvaluateResponse:
        request = pb.EvaluateRequest(priority=priority, view=common_pb2.RESULT_VIEW_FULL)
        request.MergeFrom(candidate.request)
        return (await client.send(evaluate(request))).message

    return Work("evaluating", "response", pb.EvaluateResponse, send, stops=not is_bulk)
