"""Lists the settings, as a table or as JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from server.cli.console import Grid, print_result, shown
from server.cli.errors import InputError
from server.settings import PREFIX, SEPARATOR, Settings, load_settings, read_sources

UNSET = "-"
UNITS = {"s": "seconds", "ms": "milliseconds", "mib": "MiB", "bytes": "bytes", "chars": "characters", "days": "days"}
"""What the last word of a name says about a number."""

KINDS = {"null": "none", "string": "text", "object": "table", "boolean": "true, false", "password": "secret"}
"""Words for the types and formats of JSON Schema."""

Schema = Mapping[str, Any]


class Setting(NamedTuple):
    """One setting; "-" stands for no value."""

    name: str  # its path, for example "listen.port"
    variable: str  # of the environment
    values: str  # which ones it takes, with their range and unit
    default: str
    value: str  # the one in force
    origin: str  # "default", "file" or "environment"
    meaning: str


def print_settings(word: str, *, as_json: bool) -> None:
    """Prints the settings that match. Raises InputError when none does, SettingsError when one has a wrong value."""
    found = list_settings()
    in_section = [setting for setting in found if f"{setting.name}.".startswith(f"{word}.")]
    listed = in_section or [one for one in found if word.lower() in f"{one.name} {one.variable} {one.meaning}".lower()]
    if not listed:
        raise InputError(f"no setting has {word} in its name or meaning; `precis settings` lists all")
    fields = [one._asdict() for one in listed]
    print_result(fields, list, lambda console, _: console.print(to_grid(listed).to_table()), as_json=as_json)


def list_settings() -> list[Setting]:
    """Lists all settings. Raises SettingsError when one has a wrong value."""
    defaults = Settings.model_construct().model_dump(mode="json", warnings=False)  # secrets are stars
    values, sources = load_settings().model_dump(mode="json"), read_sources()
    return [
        Setting(
            name=".".join(path),
            variable=PREFIX + SEPARATOR.join(path).upper(),
            values=in_words(field, path[-1]),
            default="needed" if field.is_required() else _shown(path, defaults, field),
            value=_shown(path, values, field),
            origin=next((name for name, source in sources.items() if _is_in(path, source)), "default"),
            meaning=field.description or "",
        )
        for path, field in _leaves(Settings)
    ]


def _leaves(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Yields path and field of every setting of a model; an optional section is looked into, a table or file is not."""
    for name, field in model.model_fields.items():
        kinds = () if get_origin(field.annotation) is dict else (field.annotation, *get_args(field.annotation))
        section = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
        if section is None or field.metadata:
            yield (*path, name), field
        else:
            yield from _leaves(section, (*path, name))


def in_words(field: FieldInfo, name: str) -> str:
    """Says which values a setting takes, for example "integer, 0 to 65535" or "path, or none"."""
    kind: Any = Annotated[field.annotation, field]
    words = _kind(TypeAdapter(kind).json_schema())
    unit = UNITS.get(name.rpartition("_")[2], "") if words.startswith(("number", "integer")) else ""
    return f"{words}, in {unit}" if unit else words


def _kind(schema: Schema, definitions: Schema | None = None) -> str:
    definitions = schema.get("$defs", definitions or {})
    if "$ref" in schema:
        return _kind(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return ", or ".join(_kind(one, definitions) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if schema["type"] == "array":
        return f"list of: {_kind(schema['items'], definitions)}"
    kind = schema.get("format", schema["type"])
    return ", ".join(filter(None, (KINDS.get(kind, kind), _range(schema))))


def _range(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{least:g} to {most:g}"
    bounds = {"at least": least, "more than": schema.get("exclusiveMinimum"), "at most": most}
    bounds["less than"] = schema.get("exclusiveMaximum")
    return ", ".join(f"{words} {bound:g}" for words, bound in bounds.items() if bound is not None)


def _is_in(path: tuple[str, ...], source: Any) -> bool:  # noqa: ANN401 - what a source holds
    """Tells whether a source sets a setting."""
    return not path or (isinstance(source, Mapping) and path[0] in source and _is_in(path[1:], source[path[0]]))


def _shown(path: tuple[str, ...], values: Mapping[str, Any], field: FieldInfo) -> str:
    """Writes a value; in a section that is left out, the default."""
    found: Any = values
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else field.get_default()
    if found in (None, {}, PydanticUndefined):
        return UNSET
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def to_grid(settings: list[Setting]) -> Grid:
    """Builds the table."""
    rows = [
        (
            shown(one.name, style="bold").append(f"\n{one.variable}", style="dim"),
            *(one.value, one.default, shown(one.origin, style="" if one.origin == "default" else "yellow")),
            shown(one.meaning).append(f" ({one.values})", style="dim"),
        )
        for one in settings
    ]
    return Grid(("name", "value", "default", "origin", "meaning"), rows, 60)
