"""The file that `precis evaluate FILE.json` reads: one golden reference and the summaries to compare with it."""

from typing import Annotated

from annotated_types import Len
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.errors import InvalidInputError
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from pipeline.evaluate.parse import to_invalid_input


class Candidate(GeneratedSummary):
    """One generated summary with the name that the comparison calls it by."""

    name: Annotated[str, Len(min_length=1, max_length=256)] = Field(description="Any short name, for example a model.")


class EvaluationFile(BaseModel):
    """A datum and at least one candidate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    datum: GoldStandardDatum
    candidates: Annotated[tuple[Candidate, ...], Len(min_length=1)]


def parse_evaluation_file(content: str | bytes) -> EvaluationFile:
    """Reads a file's content, UTF-8 JSON.

    Raises:
        InvalidInputError: no JSON, or a field breaks a rule; the field is its path in the file.
    """
    try:
        return EvaluationFile.model_validate_json(content)
    except ValidationError as error:
        if error.errors()[0]["type"] == "json_invalid":
            raise InvalidInputError("file", "JSON in UTF-8", str(error.errors()[0]["ctx"]["error"])) from error
        raise to_invalid_input(error, "") from error
