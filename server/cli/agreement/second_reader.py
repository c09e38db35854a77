"""`precis calibrate --second-reader`: what the server's language model is worth as a second reader of claims."""

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from precis.v1 import evidence_pb2

from pipeline.agreement.reader_study import ReadClaims, study_second_reader
from pipeline.errors import InvalidInputError
from pipeline.judge.second_reader import SecondReader
from server.cli.errors import InputError


class LabelledClaim(NamedTuple):
    """The only claim of a labelled summary."""

    claim: evidence_pb2.Claim
    source: str
    is_good: bool


def measure(claims: Sequence[LabelledClaim], language_model: str) -> tuple[str, SecondReader | None]:
    """Returns what was found in words, and the reader to write; None where it brings no gain.

    Raises:
        InputError: no claim was read again, or there are too few.
    """
    verdicts = [
        float(one.claim.second_reading.is_supported) if one.claim.HasField("second_reading") else math.nan
        for one in claims
    ]
    if not language_model or all(map(math.isnan, verdicts)):
        raise InputError("--second-reader: no language model has read a claim; set llm.base_url and llm.model")
    sources = [hashlib.sha256(one.source.encode()).hexdigest() for one in claims]
    read = ReadClaims(
        np.array([one.claim.probability for one in claims]),
        np.array(verdicts),
        np.array([one.is_good for one in claims], dtype=np.bool_),
        np.unique(sources, return_inverse=True)[1],
    )
    try:
        found = study_second_reader(read, language_model)
    except InvalidInputError as error:
        raise InputError(f"--second-reader: {error}") from error
    words = (
        f"second reader, {len(claims)} claims: balanced accuracy {found.before} alone, {found.after} with it; "
        f"gain {found.gain}"
    )
    if not found.helps:
        return f"{words}: none beyond chance, so nothing was written", None
    reader, measured = found.reader, {"claims": len(claims), "asked_share": found.asked_share}
    for name, one in (("before", found.before), ("after", found.after), ("gain", found.gain)):
        measured |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
    rounded = {name: round(value, 6) for name, value in measured.items()}
    asked = f"it reads claims from {reader.low:g} to {reader.high:g}, {found.asked_share:.0%} of these"
    return f"{words}; {asked}", reader.model_copy(update={"measured": rounded})
