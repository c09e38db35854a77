"""Reads key topics from a model's answer."""

import json
import re
from collections.abc import Iterable, Mapping

_MARK = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,2}[.)])\s*")
_MAX_TOPIC_CHARS = 100
_EDGES = " \t\"'“”‘’`*_.,;:"


def topics_schema(min_topics: int, max_topics: int) -> Mapping[str, object]:
    """Returns the JSON schema of the answer."""
    item = {"type": "string", "minLength": 2, "maxLength": _MAX_TOPIC_CHARS}
    array = {"type": "array", "items": item, "minItems": min_topics, "maxItems": max_topics}
    return {
        "type": "object",
        "properties": {"topics": array},
        "required": ["topics"],
        "additionalProperties": False,
    }


def parse_topics(text: str) -> list[str]:
    """Returns the topics of a JSON answer that keeps the schema."""
    return [str(topic) for topic in json.loads(text)["topics"]]


def parse_topic_lines(text: str) -> list[str]:
    """Returns the topics of an answer with one on each line."""
    return [_MARK.sub("", line) for line in text.splitlines() if line.strip() and not line.rstrip().endswith(":")]


def clean_topics(topics: Iterable[str], max_topics: int) -> tuple[str, ...]:
    """Returns the first topics without repeats, quotes and list marks."""
    kept: dict[str, str] = {}
    for topic in topics:
        clean = " ".join(topic.split()).strip(_EDGES)
        if clean and len(clean) <= _MAX_TOPIC_CHARS:
            kept.setdefault(clean.casefold(), clean)
    return tuple(kept.values())[:max_topics]
