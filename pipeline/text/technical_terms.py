"""The terms of a technical text whose loss a reader would notice: numbers, units, versions, part numbers and names."""

from dataclasses import dataclass
from enum import Enum


class TermKind(Enum):
    """What a term is. The values are the words of responses, reports and logs."""

    NUMBER = "number"
    UNIT = "unit"
    VERSION = "version"
    PART_NUMBER = "part_number"
    PATH = "path"
    COMMAND = "command"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class Term:
    """One term in the form that is compared, so that "5 mm", "5mm" and "5\u00a0mm" are the same.

    Attributes:
        kind: what it is.
        text: normalised.
    """

    kind: TermKind
    text: str
