"""Messages from domain types, by the names of their fields.

A reply is compiled once, when its module is imported. Every field of the message has a partner. That is a field or
property of the domain type with the same name, or an exception that the caller lists. Anything else does not compile,
so that no field is forgotten. `total_ms` and `total_s` are partners of the Duration `total`, and `made_at`, seconds
since 1970, is that of the Timestamp `made`; 0 leaves it unset. What is None is left unset.
"""

import types
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp
from precis.v1 import common_pb2

from pipeline.reading.passage import TextSpan
from server.rpc.fields import EnumCodec, to_duration, to_span

D = TypeVar("D")
M = TypeVar("M", bound=Message)
Convert = Callable[[Any], Any]

Partner = str | Callable[[Any], object] | None
"""Where a field comes from: a path of attributes, or a function of the domain object; None: the field is left to the
caller. The function's annotation names the domain type that it returns, if it returns one."""

Exceptions = Mapping[str, Partner]
"""Partners by "Message.field", for this message and those inside."""

_UNITS = (("_ms", 1e3), ("_s", 1.0))


class ReplyError(TypeError):
    """A message cannot be built from a domain type; raised while modules are imported."""


def reply(domain: type[D], message: type[M], exceptions: Exceptions | None = None) -> Callable[[D], M]:
    """Compiles the conversion of a domain type to a message.

    Raises:
        ReplyError: a field has no partner, or an enum with other names; an exception names no field.
    """
    descriptor: Any = message.DESCRIPTOR  # the stubs name two implementations
    exceptions = exceptions or {}
    for name in exceptions:
        _check_field(descriptor, name)
    return cast("Callable[[D], M]", _compile(domain, descriptor, exceptions))


def only(message: type[Message], names: Iterable[str]) -> dict[str, None]:
    """Leaves all fields of a message to the caller but these. Raises ReplyError for a name that is no field."""
    descriptor: Any = message.DESCRIPTOR
    kept = {f"{descriptor.name}.{name}" for name in names}
    for name in kept:
        _check_field(descriptor, name)
    return dict.fromkeys({f"{descriptor.name}.{field.name}" for field in descriptor.fields} - kept)


def _check_field(root: Descriptor, name: str) -> None:
    owner, _, field = name.partition(".")
    found = root.file.pool.FindMessageTypeByName(f"{root.file.package}.{owner}").fields_by_name
    if field not in found:
        raise ReplyError(f"{name} is no field of a message")


def _compile(domain: Any, message: Descriptor, exceptions: Exceptions) -> Convert:  # noqa: ANN401 - a class or a generic
    make = GetMessageClass(message)
    copied: dict[str, str] = {}
    converted: list[tuple[str, Convert, Convert]] = []
    for field in message.fields:
        partner = exceptions.get(f"{message.name}.{field.name}", field.name)
        if partner is None:
            continue
        try:
            get, convert = _part(domain, field, partner, exceptions)
        except TypeError as error:
            raise ReplyError(f"{message.name}.{field.name} of {domain.__name__}: {error}") from error
        if convert is None and isinstance(partner, str):
            copied[field.name] = partner
        else:
            converted.append((field.name, get, convert or (lambda part: part)))
    # All at once is a third faster than one by one; the message's own class is only there to make it a tuple.
    get_copied = attrgetter(*copied.values(), "__class__", "__class__")

    def build(value: object) -> Message:
        fields = dict(zip(copied, get_copied(value), strict=False))
        for name, get, convert in converted:
            part = get(value)
            if part is not None:
                fields[name] = convert(part)
        return make(**fields)

    return build


def _part(
    domain: Any,  # noqa: ANN401 - a class or a generic
    field: FieldDescriptor,
    partner: str | Callable[[Any], object],
    exceptions: Exceptions,
) -> tuple[Convert, Convert | None]:
    """Returns how to get what a field comes from, and how to convert it unless it fits as it is."""
    if not isinstance(partner, str):
        return partner, _converter(get_type_hints(partner).get("return"), field, exceptions)
    if _is_message(field, Duration):
        for unit, per_second in _UNITS:
            path = partner if partner.endswith(unit) else partner + unit
            if _annotation(domain, path) is not None:
                return attrgetter(path), lambda value, per_second=per_second: to_duration(value / per_second)
    elif _is_message(field, Timestamp) and _annotation(domain, f"{partner}_at") is not None:
        return attrgetter(f"{partner}_at"), _to_timestamp
    elif (annotation := _annotation(domain, partner)) is not None:
        return attrgetter(partner), _converter(annotation, field, exceptions)
    raise ReplyError(f"no {partner}")


def _to_timestamp(seconds: float) -> Timestamp | None:
    since = to_duration(seconds)
    return Timestamp(seconds=since.seconds, nanos=since.nanos) if seconds else None


def _annotation(domain: Any, path: str) -> Any:  # noqa: ANN401 - any annotation; None without such an attribute
    annotation = domain
    for name in path.split("."):
        member = getattr(annotation, name, None)
        if isinstance(member, property):
            annotation = get_type_hints(member.fget)["return"]
        else:
            annotation = get_type_hints(annotation).get(name)
    return annotation


def _converter(annotation: Any, field: FieldDescriptor, exceptions: Exceptions) -> Convert | None:  # noqa: ANN401
    """Returns how a value of this type becomes one of the field; None when it is one. Raises ReplyError."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(one for one in get_args(annotation) if one is not type(None))
    if not field.is_repeated:
        return _item_converter(annotation, field, exceptions)
    each = _item_converter(next(iter(get_args(annotation)), None), field, exceptions)
    return None if each is None else lambda values: [each(value) for value in values]


def _item_converter(annotation: Any, field: FieldDescriptor, exceptions: Exceptions) -> Convert | None:  # noqa: ANN401
    """As `_converter`, of one value; a scalar of the wrong type is refused by the message."""
    if field.enum_type is not None:
        return EnumCodec(annotation, field.enum_type).numbers.__getitem__
    if field.message_type is None or annotation is None or issubclass(annotation, Message):
        return None
    if annotation is TextSpan and _is_message(field, common_pb2.TextSpan):
        return to_span
    return _compile(annotation, field.message_type, exceptions)


def _is_message(field: FieldDescriptor, message: type[Message]) -> bool:
    return field.message_type is not None and field.message_type.full_name == message.DESCRIPTOR.full_name
