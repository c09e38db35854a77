"""Tone, sentiment and drift."""

from collections.abc import Sequence

import pytest

from pipeline.judge.evidence import tone
from pipeline.judge.evidence.table import Tone
from pipeline.judge.evidence.tone import score_tone
from pipeline.protocols import Float32
from tests.fakes_pipeline import ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE, SUMMARY, build

FAITHFUL = SUMMARY.replace("$42", "$4.2")


@pytest.mark.parametrize(
    ("text", "expected"),
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
def test_tone_is_the_writers_own(text: str, expected: Tone) -> None:
    assert score_tone([text]).tone is expected


def test_no_sentence_is_read_again_for_each_that_might_raise_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def noted(text: str) -> str:
        read.append(text)
        return text

    monkeypatch.setattr(tone, "without_quotations", noted)
    build(summary=" ".join(f"Zebras of herd {at} graze!" for at in range(30)))
    assert len(read) == len(set(read)) > 0


def test_a_faithful_summary_does_not_drift() -> None:
    assert build(summary=FAITHFUL).tone.drift == 0


def test_contempt_drifts_and_says_why() -> None:
    found = build(summary=f"{FAITHFUL} The mayor is an idiot and her council are clowns.").tone
    assert (found.source_tone, found.summary_tone, found.tone_distance) == (Tone.NEUTRAL, Tone.HOSTILE, 1)
    assert found.drift >= 0.6


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
