"""Random requests of any message type: mostly sound, so that they reach the inside, and of hostile parts."""

import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_PARTS = (
    *(
        "",
        " ",
        "a",
        "The pump runs at 7 bar.",
        "It stands in hall 3. Acme Ltd. made it in 1999.",
        "\x00",
        "\u200b",
        "\u202eabc",
    ),
    *(
        "\U0001f600",
        "\u00e9" * 30,
        "(((",
        "[SEP]",
        "[CLS] a [MASK]",
        "```json\n{",
        '{"summary": "a"}',
        "1,000,000.5 %",
        "-0",
        "NaN",
    ),
    *(
        "\n\n# A\n\n- b\n",
        "|a|b|\n|-|-|\n|1|2|",
        "Not. No! Never?",
        "'\"'\"",
        "\ufeff",
        "\ufb01",
        "\u0130",
        "\u00bd",
        "\u0661\u0662\u0663",
    ),
    *(
        "\u4e09\u767e",
        "a\u0301" * 5,
        "https://a.b/c?d=e",
        "$4.2 million",
        "12 May 2020",
        "U.S. e.g. Mr.",
        "\t",
        "\r\n",
        "\u2026",
    ),
    *(
        "\u201cquoted text here\u201d",
        "This summary covers the pump.",
        "\u2028",
        "\x85",
        "x" * 300,
        "Global",
        "%s {0} ${a}",
        "../../x",
    ),
    *(
        "' OR 1=1",
        "\U0010ffff",
        "\u00ad",
        "\u2060",
        "\U0001d7d9",
        "\u2167",
        "\u0149",
        "\u034f",
        "\u115f",
        "\u3164" * 40,
    ),
)
_INTEGERS = (0, 1, -1, 2, 3, 7, 64, 100, 2**31 - 1, -(2**31), 1_000)
_FLOATS = (0.0, 1.0, -1.0, 0.5, 1e-300, 1e308, float("inf"), float("-inf"), float("nan"), 5.0, 3.3)
_BYTES = (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBPVP8 ", bytes(range(40)))
_ENUMS = (0, 1, 2, 3, 99, -1)
_SOUND = {"source", "summary", "text", "question", "texts", "premise", "hypothesis", "key_facts", "main_theme"}
_RISKY = {"options", "priority", "frameworks", "tool_scores", "images", "scope", "mode", "choices", "reference"}
_DEEPEST = 5
_CAREFUL_SHARE, _WHOLE_SHARE = 0.7, 0.75  # of the requests: of sound parts; of undamaged bytes
F = FieldDescriptor


class Fuzz:
    """Makes requests from a seed: the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def request(self, message_type: Any) -> bytes:  # noqa: ANN401 - a Descriptor
        """Makes one request of a type, in one of four with damaged bytes."""
        message: Message = GetMessageClass(message_type)()
        self._fill(message, 0, is_careful=self.random.random() < _CAREFUL_SHARE)
        raw = message.SerializeToString()
        return raw if self.random.random() < _WHOLE_SHARE else self._damaged(raw)

    def _fill(self, message: Any, depth: int, *, is_careful: bool) -> None:  # noqa: ANN401
        for field in message.DESCRIPTOR.fields:
            if self.random.random() > self._chance(field.name, depth, is_careful=is_careful):
                continue
            for _ in range(self.random.choice((1, 1, 2, 3)) if field.is_repeated else 1):
                if field.type == F.TYPE_MESSAGE:
                    if depth < _DEEPEST:
                        part = getattr(message, field.name)
                        if field.message_type.GetOptions().map_entry:
                            part = part[self._text()]
                        part = part.add() if hasattr(part, "add") else part
                        part.SetInParent()
                        self._fill(part, depth + 1, is_careful=is_careful)
                elif field.is_repeated:
                    getattr(message, field.name).append(self._value(field, is_careful=is_careful))
                else:
                    setattr(message, field.name, self._value(field, is_careful=is_careful))

    def _chance(self, name: str, depth: int, *, is_careful: bool) -> float:
        if is_careful and name in _SOUND:
            return 1.0
        if is_careful and name in _RISKY:
            return 0.1
        return 0.75 if depth < 3 else 0.5  # noqa: PLR2004 - deeper ones would grow without end

    def _value(self, field: FieldDescriptor, *, is_careful: bool) -> Any:  # noqa: ANN401
        match field.type:
            case F.TYPE_STRING:
                return self._text() + (" The pump runs." if is_careful and field.name in _SOUND else "")
            case F.TYPE_BYTES:
                return self.random.choice(_BYTES)
            case F.TYPE_BOOL:
                return self.random.random() < 0.5  # noqa: PLR2004 - a coin
            case F.TYPE_ENUM:
                return self.random.choice(_ENUMS)
            case F.TYPE_DOUBLE | F.TYPE_FLOAT:
                return self.random.choice(_FLOATS)
            case _:
                number = self.random.choice(_INTEGERS)
                return abs(number) if field.type in {F.TYPE_UINT32, F.TYPE_UINT64} else number

    def _text(self) -> str:
        count = self.random.choice((1, 1, 1, 2, 4, 8))
        joint = self.random.choice(("", " ", ". ", "\n"))
        return joint.join(self.random.choice(_PARTS) for _ in range(count))

    def _damaged(self, raw: bytes) -> bytes:
        data = bytearray(raw)
        for _ in range(self.random.randint(1, 4)):
            at = self.random.randrange(len(data) + 1)
            match self.random.randrange(3):
                case 0:
                    data[at : at + 1] = bytes((self.random.randrange(256),))
                case 1:
                    del data[at : at + self.random.randint(1, 8)]
                case _:
                    data[at:at] = self.random.randbytes(self.random.randint(1, 6))
        return bytes(data)
