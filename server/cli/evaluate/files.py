"""What `precis evaluate` reads: one JSON document with one or several candidates, or JSON Lines."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb

from server.cli.errors import InputError
from server.cli.files import naming, parse_message, parse_object, read_text

REQUEST_FIELDS = {"datum", "generated", "candidates", "options"}


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
            summaries, may stand in place of `generated`; a bare GoldStandardDatum will do when `summaries` are given.
        summaries: text files, or what `precis summarize` wrote as JSON; each one more candidate, named after the file.

    Raises:
        InputError: a file cannot be read, or does not hold what it should.
    """
    text = read_text(path)
    others = [(file.name, {"text": read_summary(file)}) for file in summaries]
    with naming(path):
        document = parse_object(text)
        if {"entry", "summary"} <= document.keys():
            document = {"datum": document}
        unknown = sorted(document.keys() - REQUEST_FIELDS)
        if unknown:
            raise InputError(f"no such field: {', '.join(unknown)}; known are {', '.join(sorted(REQUEST_FIELDS))}")
        named = named_summaries(document) + others
        if not named:
            raise InputError("nothing to evaluate: add `generated` or `candidates`, or give --summary FILE")
        shared = {name: value for name, value in document.items() if name in ("datum", "options")}
        candidates = []
        for name, fields in named:
            with naming(name):
                candidates.append(Candidate(name, to_request({**shared, "generated": fields})))
        return candidates


def read_summary(file: Path) -> str:
    """Reads a summary. Raises InputError."""
    if file.suffix.lower() != ".json":
        return read_text(file)
    content = read_text(file)
    with naming(file):
        text = parse_object(content).get("text")
        if not isinstance(text, str):
            raise InputError("no `text`: a summary in JSON is what `precis summarize --output FILE.json` writes")
        return text


def named_summaries(document: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Lists name and fields of the summaries in a document."""
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
