"""The numbers of calls, known before the first one."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.summarize.packing import Packer
from pipeline.summarize.plan import SummaryPlan, level_calls
from tests.fakes_summarize import WIDE, ScriptedWriter
from tests.unit.pipeline.summarize.documents import full_plan, numbered_document


def plan_of(chunk_count: int, **options: object) -> SummaryPlan:
    return full_plan(numbered_document(chunk_count), ScriptedWriter(), **options)


@pytest.mark.parametrize(("chunk_count", "map_calls", "calls"), [(1403, 201, (270, 539)), (1400, 200, (269, 537))])
def test_a_long_manual_takes_as_many_calls_as_its_levels_say(
    chunk_count: int, map_calls: int, calls: tuple[int, int]
) -> None:
    plan = plan_of(chunk_count)
    assert (plan.map_calls, plan.level_calls) == (map_calls, (50, 13, 3, 1))
    assert (plan.calls(), plan.calls(2), plan.is_exact) == (*calls, True)


@pytest.mark.parametrize(("chunk_count", "calls"), [(1, 3), (7, 3), (8, 5), (28, 7), (29, 9), (35, 9)])
def test_short_documents_take_few_calls(chunk_count: int, calls: int) -> None:
    # 1 batch: map, reflect, topics. 2 batches: one merge more. 5 batches: 4 merged, a lone one, then both merged.
    assert plan_of(chunk_count).calls() == calls


@pytest.mark.parametrize(
    ("chunk_count", "wish", "levels"),
    [
        (100, {"detail": "full"}, ()),  # 11,300 tokens: no answer holds them, four do
        (1403, {"detail": "full"}, (50, 13, 3)),
        (20, {"detail": "full"}, (1,)),  # one answer holds them
        (100, {"detail": "full", "form": "prose"}, (4, 1)),
        (100, {"detail": "full", "language": "German"}, (4, 1)),
        (100, {"target_words": 300}, (4, 1)),
    ],
)
def test_what_is_kept_whole_is_joined_where_no_answer_holds_it(
    chunk_count: int, wish: dict[str, object], levels: tuple[int, ...]
) -> None:
    document, writer = numbered_document(chunk_count, text="A wet seal is dried. " * 20), ScriptedWriter()
    plan = full_plan(document, writer, **wish)
    assert (plan.level_calls, plan.calls(), plan.is_exact) == (levels, plan.map_calls + sum(levels) + 2, True)
    assert plan.input_tokens == sum(writer.count_tokens(chunk.text) for chunk in document.chunks)
    assert plan.max_completion_tokens() == plan.calls() * WIDE.output_tokens
    assert plan.max_prompt_tokens() > plan.input_tokens + 2 * min(plan.most_joined, plan.map_calls) * WIDE.output_tokens


@given(st.integers(1, 2_000), st.integers(2, 20))
def test_levels_are_what_full_groups_give(text_count: int, group_size: int) -> None:
    counted = []
    left = text_count
    while left > 1:
        groups = list(Packer([1] * left, group_size, group_size, least=2).cuts())
        counted.append(sum(len(group) > 1 for group in groups))
        left = len(groups)
    assert level_calls(text_count, group_size) == counted


def test_the_critical_path_counts_what_must_wait_for_something_else() -> None:
    plan = dataclasses.replace(plan_of(1403, wave=8), concurrency=8)
    # 26 waves of 8, the last of 1; levels of 50, 13, 3 and 1 by 8; reflect; topics.
    assert plan.rounds() == 26 + (7 + 2 + 1 + 1) + 1 + 1
    assert plan.rounds(2) == 2 * (26 + 11 + 1) + 1


@pytest.mark.parametrize(("wave", "rounds"), [("all", 26), (1, 201)])
def test_without_waves_batches_only_wait_for_the_endpoint_and_waves_of_one_follow_each_other(
    wave: object, rounds: int
) -> None:
    plan = plan_of(1403, wave=wave)
    assert plan.uses_source_context is (wave == "all")
    assert plan.rounds() == rounds + 11 + 2


def test_answers_that_cannot_fit_their_group_make_the_plan_an_estimate() -> None:
    narrow = dataclasses.replace(WIDE, model_context_tokens=16_000)
    assert not full_plan(numbered_document(70), ScriptedWriter(narrow)).is_exact


def test_options_of_the_caller_come_before_the_settings() -> None:
    plan = plan_of(100, batch_size=10, reduce_group_size=10, max_iterations=1, wave=3)
    assert (plan.map_calls, plan.level_calls, plan.max_iterations, plan.wave) == (10, (1,), 1, 3)
