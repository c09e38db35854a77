import pytest

from pipeline.reading.values import TermKind, find_terms
from pipeline.summarize.extractive.values import judge
from pipeline.summarize.retention import Mentions, measure
from pipeline.summarize.writer import CriticVerdict

SOURCE = "Valve V-17 opens at 5.5 bar. The motor of Nordhaven draws 16 A. Use --verbose with firmware 4.2.1."


def verdict(summary: str, *, fullness: float = 0.1) -> tuple[CriticVerdict, str]:
    return judge(measure(find_terms(SOURCE), [Mentions.of(summary)]), min_share=0.95, fullness=fullness)


def test_a_summary_with_all_values_passes() -> None:
    critic_verdict, text = verdict(SOURCE)
    assert critic_verdict is CriticVerdict.PASS
    assert text.startswith("PASS: 100.0%")
    assert "missing" not in text


def test_a_summary_with_room_fails_and_names_what_is_missing() -> None:
    critic_verdict, text = verdict("Valve V-17 opens at 5.5 bar.")
    assert critic_verdict is CriticVerdict.FAIL
    assert text.splitlines()[0].startswith("FAIL: Only ")
    missing = [line for line in text.splitlines() if "missing" in line]
    assert missing == [
        "- numbers missing, for example: 16",
        "- units missing, for example: 16 A",
        "- versions missing, for example: 4.2.1",
        "- commands missing, for example: --verbose",
    ]
    assert "- numbers kept: 1 of 2" in text


def test_names_are_counted_and_do_not_decide() -> None:
    assert verdict(SOURCE.replace("Nordhaven", "somebody"))[0] is CriticVerdict.PASS


@pytest.mark.parametrize(("fullness", "critic_verdict"), [(0.89, CriticVerdict.FAIL), (0.9, CriticVerdict.PASS)])
def test_a_full_summary_passes_and_says_so(fullness: float, critic_verdict: CriticVerdict) -> None:
    found, text = verdict("Nothing of it.", fullness=fullness)
    assert found is critic_verdict
    assert ("full length" in text) == (critic_verdict is CriticVerdict.PASS)


def test_the_next_iteration_finds_every_missing_term_in_the_critique() -> None:
    _, text = verdict("Nothing of it.")
    values = [term for term in find_terms(SOURCE) if term.kind is not TermKind.ENTITY]
    assert len(values) == 7
    assert measure(values, [Mentions.of(text)]).share == 1


def test_a_document_without_values_passes() -> None:
    assert judge(measure([], []), min_share=0.95, fullness=0.1)[0] is CriticVerdict.PASS
