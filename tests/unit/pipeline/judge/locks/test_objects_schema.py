"""The published schema of the frameworks' objects, and the objects of judgements."""

import json
from copy import deepcopy
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from pipeline.judge.config import LockConfig
from pipeline.judge.evidence.table import (
    EvidenceTable,
    KeyPointCoverage,
    LexiconKind,
    LexiconSeverity,
    MismatchKind,
    Tone,
)
from pipeline.judge.locks.caps import RelevanceMode
from pipeline.judge.locks.coverage import Overlap
from pipeline.judge.locks.hallucination import LISTED, HallucinationSeverity
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import Framework, FrameworkResult, Json, MetricName, MetricStatus
from pipeline.support.claim_support import ClaimLabel
from tests.unit.pipeline.judge.judging import Fakes
from tests.unit.pipeline.judge.locks.test_properties import TABLES
from tests.unit.pipeline.judge.tables import table

SCHEMA: dict[str, Any] = json.loads(files("pipeline.judge").joinpath("objects.schema.json").read_text(encoding="utf-8"))
LOCKS = (Framework.TWIN_LOCK, Framework.JUDGE_LOCK)


def closed(schema: Json) -> Json:
    """Returns a schema that refuses what it does not name, so that nothing is sent that is not published."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(part) for name, part in schema.items()}
    if "properties" in made and "required" in made:
        made.setdefault("additionalProperties", False)
    return made


def validator(framework: Framework) -> Draft202012Validator:
    schema = deepcopy(closed(SCHEMA))
    assert isinstance(schema, dict)
    schema["anyOf"] = [{"$ref": f"#/$defs/{framework}"}]
    return Draft202012Validator(schema)


VALIDATORS = {framework: validator(framework) for framework in Framework}


def check(result: FrameworkResult) -> None:
    objects = json.loads(json.dumps({name.value: shown for name, shown in result.objects.items()}))
    VALIDATORS[result.framework].validate(objects)
    Draft202012Validator(SCHEMA).validate(objects)


def choices(schema: str, name: str) -> list[str]:
    found = SCHEMA["$defs"][schema]["properties"][name]
    return list(found.get("items", found)["enum"])


def test_the_schema_is_valid_and_has_a_version() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:precis:judge-objects:1"


@pytest.mark.parametrize("framework", LOCKS)
@given(made=TABLES)
def test_every_object_of_a_lock_is_as_published(framework: Framework, made: EvidenceTable) -> None:
    check(score_lock(made, LockConfig(twin_safeguards=True).rules_of(framework)))


@pytest.mark.parametrize("framework", LOCKS)
def test_an_object_that_failed_is_as_published(framework: Framework) -> None:
    result = score_lock(table(points=(), made_segments=()), LockConfig().rules_of(framework))
    assert [name for name, shown in result.objects.items() if "error" in shown] == ["coverage", "relevance"]
    check(result)


async def test_every_object_of_real_judgements_is_as_published() -> None:
    judgement = await Fakes().judge()
    assert [result.framework for result in judgement.frameworks] == list(Framework)
    for result in judgement.frameworks:
        check(result)


def test_an_object_with_another_field_is_refused_by_this_test_and_not_by_clients() -> None:
    result = score_lock(table(), LockConfig().rules_of(Framework.TWIN_LOCK))
    objects = {name.value: shown | {"new": 1} for name, shown in result.objects.items()}
    Draft202012Validator(SCHEMA).validate(objects)
    assert not VALIDATORS[Framework.TWIN_LOCK].is_valid(objects)


def test_the_words_of_the_schema_are_those_of_the_code() -> None:
    assert choices("claim", "label") == [label.value.capitalize() for label in ClaimLabel]
    assert choices("claim", "mismatches") == [kind.value for kind in MismatchKind]
    assert choices("key_point", "label") == [label.value.capitalize() for label in KeyPointCoverage]
    assert choices("segment", "label") == [label.value.capitalize() for label in Overlap]
    assert choices("issue", "kind") == [kind.value for kind in LexiconKind]
    assert choices("issue", "severity") == [severity.value for severity in LexiconSeverity]
    assert choices("alignment", "summary_tone") == [tone.value for tone in Tone]
    assert choices("judge_hallucination", "severity") == [severity.value for severity in HallucinationSeverity]
    assert choices("twin_relevance", "relevance_mode") == [mode.value for mode in RelevanceMode]
    assert choices("ultra_metric", "metric") == [name.value for name in MetricName]
    without_score = {"error", "unsupported_language", "no_statement"}
    assert set(choices("ultra_metric", "status")) == {status.value for status in MetricStatus} - without_score
    listed = SCHEMA["$defs"]["twin_hallucination"]["properties"]["claims"]["maxItems"]
    assert listed == LISTED
