"""The synthesizer without a model, and with one that keeps to the rules."""

import asyncio
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore, WorstDistortion
from pipeline.assess.request import SynthesisRequest
from pipeline.assess.result import ReplanReason
from pipeline.assess.synthesizer import GENERIC_ANSWER, Synthesizer
from pipeline.judge.fusion import FusionForm, LevelSource, fuse
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.assess.pictures import encoded, scene
from tests.unit.pipeline.assess.questions import BLUR, CHOICE, EVIDENCE, OPEN, SCORING, ScriptedChat, reply
from tests.unit.pipeline.llm.models import bench

LEVELS = {"A": 0.075, "B": 0.075, "C": 0.7, "D": 0.075, "E": 0.075}
synthesizer = Synthesizer()


async def test_without_a_model_the_tools_decide_and_the_answer_says_so() -> None:
    synthesis = await synthesizer.synthesize(SCORING)
    assert synthesis.final_answer == "C"
    assert synthesis.fusion is not None
    assert synthesis.fusion.score == synthesis.fusion.tool_mean == pytest.approx(2.7)
    assert synthesis.author == "deterministic"
    assert synthesis.level_source is LevelSource.UNIFORM
    assert not synthesis.degraded
    assert synthesis.attempt_count == 0
    assert "2.70" in synthesis.quality_reasoning
    assert "Blurs in Global: moderate (Edges appear soft)" in synthesis.quality_reasoning


async def test_without_a_model_an_open_question_is_answered_with_the_evidence() -> None:
    synthesis = await synthesizer.synthesize(OPEN)
    assert synthesis.final_answer == "Found: Blurs in Global: moderate. Over all, quality is fair: 2.7 of 5."
    assert "TOPIQ_FR 2.60 (Blurs in Global)" in synthesis.quality_reasoning
    assert synthesis.used_evidence == EVIDENCE


async def test_no_choice_is_an_error_and_not_a_guess() -> None:
    output = await synthesizer.synthesize(replace(CHOICE, choices=("Yes", "No")))
    assert output.final_answer == GENERIC_ANSWER
    assert output.error is not None
    assert output.error.startswith("no_supported_choice")


async def test_nothing_to_fuse_is_an_error_that_asks_for_replanning() -> None:
    output = await synthesizer.synthesize(replace(SCORING, evidence=Evidence()))
    assert output.error is not None
    assert output.error.startswith("nothing_to_fuse")
    assert output.need_replan
    assert output.replan_reason == "no analysis of Global; no tool scores"


async def test_only_scores_and_findings_of_the_asked_scope_are_fused() -> None:
    dog = (Finding("Blurs", DistortionSeverity.MODERATE),)
    cat = (Finding("Noise", DistortionSeverity.SEVERE),)
    scores = (ToolScore("IQA", 1.2, "dog"), ToolScore("IQA", 5.0, "cat"), ToolScore("IQA", 4.0))
    evidence = Evidence({"dog": dog, "cat": cat}, scores)
    request = replace(SCORING, scope=("dog",), evidence=evidence)
    synthesis = await synthesizer.synthesize(request)
    assert synthesis.fusion is not None
    assert (synthesis.final_answer, synthesis.fusion.tool_mean) == ("E", 1.2)
    assert synthesis.used_evidence == Evidence({"dog": dog}, scores[:1])
    assert "out_of_scope: 3 findings or scores of other parts were left out" in synthesis.notes
    without = await synthesizer.synthesize(replace(request, evidence=replace(evidence, tool_scores=scores[1:2])))
    assert (without.fusion, without.need_replan) == (None, True)
    assert [need.reason for need in without.replan_needs] == [ReplanReason.NO_TOOL_SCORES]


def of_distortions(**scores: float) -> SynthesisRequest:
    """Asks how good an image is whose distortions have these scores; `whole` is a score of quality as a whole."""
    tools = (ToolScore(kind, score, aspect="" if kind == "whole" else kind) for kind, score in scores.items())
    return replace(SCORING, evidence=Evidence(EVIDENCE.distortion_analysis, tuple(tools)))


async def test_an_image_is_no_better_for_the_distortions_that_it_does_not_have() -> None:
    blurred = of_distortions(blur=3.14, noise=5.0)
    synthesis = await synthesizer.synthesize(blurred)
    assert synthesis.worst_distortion == WorstDistortion(GLOBAL, "blur", 3.14)
    assert synthesis.fusion is not None
    assert (synthesis.final_answer, synthesis.fusion.score) == ("C", 3.14)
    assert synthesis.fusion.tool_mean == pytest.approx(4.07)
    assert "blur in Global, stands in place of a mean of 4.07: 3.14" in synthesis.quality_reasoning
    seen = await synthesizer.synthesize(
        replace(blurred, images=(encoded(scene()),)), chat_model=ScriptedChat(reply("D"))
    )
    assert (seen.final_answer, seen.replan_needs) == ("D", ())  # and no other plan for a model that agrees


@pytest.mark.parametrize(
    ("request_", "worst"),
    [
        (of_distortions(blur=4.0, whole=2.0), WorstDistortion(GLOBAL, "", 2.0)),
        (of_distortions(blur=4.0, coverage=5.0), WorstDistortion(GLOBAL, "blur", 4.0)),
        (of_distortions(blur=4.0, coverage=1.0), None),
        (of_distortions(coverage=2.0, alignment=5.0), None),  # metrics of texts
        (of_distortions(blur=2.5), None),  # the mean says the same
        (SCORING, None),
    ],
)
async def test_a_distortion_decides_that_is_worse_than_the_mean(
    request_: SynthesisRequest, worst: WorstDistortion | None
) -> None:
    synthesis = await synthesizer.synthesize(request_)
    assert synthesis.worst_distortion == worst
    assert synthesis.fusion is not None
    assert synthesis.fusion.score == (worst.score if worst else synthesis.fusion.tool_mean)


async def test_the_formula_as_printed_knows_the_mean_alone() -> None:
    raw = replace(of_distortions(blur=3.0, noise=5.0), form=FusionForm.PAPER_RAW)
    synthesis = await synthesizer.synthesize(raw)
    assert synthesis.fusion == fuse([3.0, 5.0], form=FusionForm.PAPER_RAW)
    assert synthesis.worst_distortion is None


@given(st.lists(st.tuples(st.sampled_from(["blur", "noise", "blocking"]), st.floats(1, 5)), min_size=1, max_size=8))
def test_another_good_score_never_raises_a_bad_image_over_its_worst_distortion(scores: list[tuple[str, float]]) -> None:
    evidence = Evidence({}, tuple(ToolScore("IQA", score, aspect=kind) for kind, score in scores))
    synthesis = asyncio.run(synthesizer.synthesize(replace(SCORING, evidence=evidence)))
    assert synthesis.fusion is not None
    for kind in {kind for kind, _ in scores}:
        assert synthesis.fusion.score <= fmean(score for of, score in scores if of == kind) + 1e-9


async def test_a_model_sees_the_evidence_of_the_asked_scope_alone() -> None:
    chat = ScriptedChat(reply("C"))
    other = {**EVIDENCE.distortion_analysis, "cat": (Finding("Noise", DistortionSeverity.SEVERE),)}
    await synthesizer.synthesize(
        replace(SCORING, evidence=replace(EVIDENCE, distortion_analysis=other)), chat_model=chat
    )
    assert "Noise" not in chat.requests[0].messages[1].content


async def test_a_certain_model_far_from_the_tools_is_smoothed_noted_and_looked_at_again() -> None:
    sharp = Evidence({GLOBAL: (Finding("Blurs", DistortionSeverity.NONE),)}, (ToolScore("IQA", 5.0),))
    answer = {"E": 0.0}
    synthesis = await synthesizer.synthesize(replace(SCORING, evidence=sharp, level_answer=answer))
    assert synthesis.fusion is not None
    assert min(synthesis.fusion.probabilities) > 0
    assert synthesis.replan_reason == "tools and level probabilities hardly agree (0.15)"
    assert [need.reason for need in synthesis.replan_needs] == [ReplanReason.DISAGREEMENT]
    assert [note.partition(":")[0] for note in synthesis.notes] == ["probabilities_smoothed", "no_agreement"]


async def test_a_model_that_agrees_is_neither_smoothed_nor_noted() -> None:
    synthesis = await synthesizer.synthesize(replace(SCORING, level_answer={"C": 0.0}))
    assert synthesis.notes == ()
    assert not synthesis.need_replan


@pytest.mark.parametrize(
    ("letter", "need_replan", "reasons"),
    [
        ("C", False, []),
        ("C", True, [ReplanReason.UNCERTAIN]),
        ("A", False, [ReplanReason.CONTRADICTION]),
        ("A", True, [ReplanReason.CONTRADICTION, ReplanReason.UNCERTAIN]),
    ],
)
async def test_for_images_an_answer_that_is_unsure_or_contradicts_a_score_asks_for_replanning(
    letter: str, reasons: list[ReplanReason], *, need_replan: bool
) -> None:
    chat = ScriptedChat(reply(letter, need_replan=need_replan))
    picture = replace(SCORING, images=(encoded(scene()),))
    synthesis = await synthesizer.synthesize(picture, chat_model=chat)
    assert [need.reason for need in synthesis.replan_needs] == reasons
    assert synthesis.need_replan == bool(reasons)
    of_text = await synthesizer.synthesize(SCORING, chat_model=chat)
    assert not of_text.need_replan


async def test_the_callers_levels_take_the_place_of_asking() -> None:
    chat = ScriptedChat(reply("A"))
    await synthesizer.synthesize(replace(SCORING, level_answer="C"), chat_model=chat)
    assert chat.requests == []


async def test_letters_are_weighed_by_their_log_probabilities() -> None:
    script = Script(replies=(Reply("", reply("C"), LEVELS),), keep_bodies=True)
    async with bench(script) as at:
        synthesis = await synthesizer.synthesize(SCORING, chat_model=at.model)
        body = at.scripted.log.bodies[0]
    assert synthesis.level_source is LevelSource.LOGITS
    assert synthesis.fusion is not None
    assert synthesis.fusion.probabilities == pytest.approx((0.075, 0.075, 0.7, 0.075, 0.075))
    assert round(synthesis.fusion.score, 2) == 2.94
    assert synthesis.final_answer == "C"
    assert synthesis.author.startswith("scripted@")
    assert synthesis.used_evidence == Evidence({GLOBAL: (BLUR,)}, EVIDENCE.tool_scores[:1])
    assert synthesis.usage.calls == 1
    assert (body["temperature"], body["seed"], body["top_logprobs"]) == (0.0, 0, 20)


async def test_an_endpoint_without_log_probabilities_is_a_classification() -> None:
    script = Script(replies=(Reply("", reply("C")),), supports_logprobs=False)
    async with bench(script) as at:
        synthesis = await synthesizer.synthesize(SCORING, chat_model=at.model)
    assert synthesis.level_source is LevelSource.CLASSIFICATION
    assert synthesis.fusion is not None
    assert synthesis.fusion.probabilities == pytest.approx((0.05, 0.05, 0.8, 0.05, 0.05))


async def test_letters_that_the_model_hardly_thought_of_are_no_probabilities() -> None:
    script = Script(replies=(Reply("", reply("C"), {"The": 0.7, "C": 0.2, "A": 0.1}),))
    async with bench(script) as at:
        synthesis = await synthesizer.synthesize(SCORING, chat_model=at.model)
    assert synthesis.level_source is LevelSource.CLASSIFICATION


async def test_tools_move_the_models_level_and_the_answer_says_so() -> None:
    synthesis = await synthesizer.synthesize(SCORING, chat_model=ScriptedChat(reply("A")))
    assert synthesis.final_answer != "A"
    assert any(note.startswith("level_moved") for note in synthesis.notes)


async def test_a_choice_of_the_model_is_taken() -> None:
    synthesis = await synthesizer.synthesize(CHOICE, chat_model=ScriptedChat(reply("C", ["T2"])))
    assert synthesis.final_answer == "C"
    assert synthesis.used_evidence.tool_scores == EVIDENCE.tool_scores[1:]


async def test_ids_that_do_not_exist_are_dropped_and_counted() -> None:
    chat = ScriptedChat(reply("C", ["T1", "T9", "X", "T1"]))
    synthesis = await synthesizer.synthesize(CHOICE, chat_model=chat)
    assert synthesis.used_evidence == EVIDENCE.only(["T1"])
    assert "unknown_evidence: 2 cited ids do not exist" in synthesis.notes


async def test_the_model_cannot_ask_for_replanning_without_a_gap() -> None:
    wish = reply(need_replan=True, replan_reason="I would like to see more")
    synthesis = await synthesizer.synthesize(OPEN, chat_model=ScriptedChat(wish))
    assert not synthesis.need_replan
    assert any(note.startswith("model_asks_for_evidence") for note in synthesis.notes)


async def test_an_endpoint_without_eyes_answers_from_the_evidence() -> None:
    script = Script(replies=(Reply("", reply("C")),), supports_images=False)
    async with bench(script) as at:
        synthesis = await synthesizer.synthesize(replace(SCORING, images=(encoded(scene()),)), chat_model=at.model)
    assert not synthesis.degraded
    assert synthesis.attempt_count == 1
    assert any(note.startswith("images_refused") for note in synthesis.notes)
