"""Reads the JSON Schema that a caller wants a summary in, and the values of a JSON that was written by it.

A schema is a caller's text: only keywords are taken whose check takes time linear in the answer, and that name nothing
outside of it. So there are no references, which may be fetched or recur, and no regular expressions.
"""

import json
from collections.abc import Iterator, Mapping

import jsonschema

MAX_SCHEMA_CHARS = 20_000
_MOST_LEVELS = 20
_MOST_DIGITS = 308  # of an integer: float() takes no more, and int() has a limit too
_KEYWORDS = {
    *("type", "title", "description", "default", "enum", "const", "anyOf", "properties", "required"),
    *("additionalProperties", "items", "minItems", "maxItems", "minLength", "maxLength"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minProperties", "maxProperties"),
}
_EXPECTED = "expected a JSON Schema of an object"


def parse_schema(text: str) -> Mapping[str, object]:
    """Returns a schema. Raises ValueError that says what was expected."""
    try:
        schema = json.loads(text, parse_int=_to_int)
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise ValueError(f'{_EXPECTED}, got one without "type": "object"')
        _check_keywords(schema, _MOST_LEVELS)
        jsonschema.Draft202012Validator.check_schema(schema)
    except json.JSONDecodeError as error:
        raise ValueError(f"{_EXPECTED}, got no JSON at character {error.pos}") from error
    except RecursionError as error:
        raise ValueError(f"{_EXPECTED}, got one that is nested too deeply") from error
    except jsonschema.SchemaError as error:
        raise ValueError(f"{_EXPECTED}, got one that breaks the rules of {error.json_path}") from error
    return schema


def _to_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{_EXPECTED} with no number of more than {_MOST_DIGITS} digits, got a longer one")
    return int(digits)


def _check_keywords(schema: object, levels: int) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict) or not levels:
        raise ValueError(f"{_EXPECTED}, at most {_MOST_LEVELS} levels deep, got something else inside")
    if not schema.keys() <= _KEYWORDS:
        raise ValueError(f"{_EXPECTED} with no keywords but {', '.join(sorted(_KEYWORDS))}, got another one")
    for part in _parts(schema):
        _check_keywords(part, levels - 1)


def _parts(schema: Mapping[str, object]) -> Iterator[object]:
    """Yields the schemas inside a schema."""
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield schema[name]
    properties, choices = schema.get("properties"), schema.get("anyOf")
    yield from properties.values() if isinstance(properties, dict) else ()
    yield from choices if isinstance(choices, list) else ()


def stated_values(text: str, schema: Mapping[str, object]) -> str:
    """Returns what a JSON says of its source: its texts and numbers as they stand there, each a paragraph.

    Words that the schema itself gives to choose from are left out.
    """
    given = set(_choices(schema))
    values = _leaves(json.loads(text, parse_int=str, parse_float=str))
    return "\n\n".join(" ".join(value.split()) for value in values if value.strip() and value not in given)


def _choices(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        enum = schema.get("enum")
        options = [*(enum if isinstance(enum, list) else ()), schema.get("const"), schema.get("default")]
        yield from (str(option) for option in options if isinstance(option, str | int | float))
        for part in _parts(schema):
            yield from _choices(part)


def _leaves(value: object) -> Iterator[str]:
    """Yields the texts inside a JSON, in order, however deep."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            waiting += reversed(list(part.values()))
        elif isinstance(part, list):
            waiting += reversed(part)
