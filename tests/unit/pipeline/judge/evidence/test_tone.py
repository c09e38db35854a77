"""Tone, sentiment and drift."""

from collections.abc import Sequence

import pytest

from pipeline.judge.evidence.table import Tone
from pipeline.judge.evidence.tone import score_tone
from pipeline.protocols import Float32
from tests.fakes_pipeline import ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE, SUMMARY, build

FAITHFUL = SUMMARY.replace("$42", "$4.2")


@pytest.mark.parametrize(
    ("text", "tone"),
    [
        ("Three people were killed when the bridge fell, police said on Monday.", Tone.NEUTRAL),
        ("The mayor made a disgraceful and frankly ridiculous choice on Monday.", Tone.SUBJECTIVE),
        ("I think that we should all be happy about the new bridge.", Tone.SUBJECTIVE),
        ("The mayor is an idiot and his friends are scum.", Tone.HOSTILE),
        ('"You are an idiot and a clown," a resident said to the mayor on Monday.', Tone.NEUTRAL),
        ("費用が上がりました。", Tone.UNCLEAR),
        ("Yes.", Tone.UNCLEAR),
    ],
)
def test_tone_is_the_writers_own(text: str, tone: Tone) -> None:
    assert score_tone([text]).tone is tone


def test_a_faithful_summary_does_not_drift() -> None:
    assert build(summary=FAITHFUL).tone.drift == 0


def test_contempt_drifts_and_says_why() -> None:
    tone = build(summary=f"{FAITHFUL} The mayor is an idiot and her council are clowns.").tone
    assert (tone.source_tone, tone.summary_tone, tone.tone_distance) == (Tone.NEUTRAL, Tone.HOSTILE, 1)
    assert tone.drift >= 0.6


def test_joy_about_bad_news_drifts() -> None:
    happy = "Wonderful news: the lovely bridge is closed, and everyone is delighted, happy and full of joy and love."
    calm = build(summary="The bridge is closed for two years.").tone
    assert build(summary=happy).tone.stance_distance > calm.stance_distance
    assert build(summary=happy).tone.drift > calm.drift


def test_contradicted_claims_drift_by_their_length() -> None:
    class Opposed(ScriptedEntailment):
        async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
            probabilities = await super().entail(pairs)
            for row, (_, hypothesis) in enumerate(pairs):
                if "reject" in hypothesis:
                    probabilities[row] = (0.05, 0.05, 0.9)
            return probabilities

    table = build(ARTICLE, "The council rejected the closure. Repairs cost $4.2 million.", entailment=Opposed())
    assert 0 < table.tone.meaning_distance < 1
    assert table.tone.drift > 0
