"""Settings of a judgement."""

import pytest
from pydantic import ValidationError

from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.locks.caps import RelevanceMode


def test_overrides_replace_settings_of_their_section_alone() -> None:
    config = JudgeConfig().with_overrides({"lock": {"relevance_mode": "jaccard"}, "ultra": {"eta": 2}})
    assert (config.lock.relevance_mode, config.lock.correct_questions_needed) == (RelevanceMode.JACCARD, 4)
    assert config.ultra.eta == 2
    assert config.evidence == JudgeConfig().evidence


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"evidence": {"max_claims": 0}}, "options.max_claims"),
        ({"ultra": {"eta": 0}}, "options.eta"),
        ({"ultra": {"eta": float("nan")}}, "options.eta"),
        ({"lock": {"relevance_mode": "cosine"}}, "options.relevance_mode"),
        ({"lock": {"no_such": 1}}, "options.no_such"),
    ],
)
def test_a_bad_override_names_the_callers_option(overrides: dict[str, dict[str, object]], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        JudgeConfig().with_overrides(overrides)
    assert caught.value.field == field


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(ValidationError):
        JudgeConfig.model_validate({"locks": {}})
