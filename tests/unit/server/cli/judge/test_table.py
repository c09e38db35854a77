"""A judgement on the terminal, its verdict in a sentence, and what a bulk run amounts to."""

import io

import pytest
from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console

from server.cli.commands.judge import parse_floor
from server.cli.judge.judgements import Item, JudgeAnswer, JudgeTally
from server.cli.judge.names import ClaimVerdict
from tests.judgements import judgement
from tests.unit.server.cli.page.many_claims import long_judgement

ITEM = Item("one", "Source.", "Summary.")


def printed(*results: pb.JudgeResult) -> str:
    file, tally = io.StringIO(), JudgeTally(keeps_page=True)
    named = [(f"item-{number}", result) for number, result in enumerate(results)]
    for item_id, result in named:
        tally.add(JudgeAnswer(item_id, Item(item_id, "Source.", "Summary."), result, None, ""))
    tally.show(Console(file=file, width=160, highlight=False), named, is_brief=False)
    return file.getvalue()


def row(text: str, *words: str) -> list[str]:
    """The words of the one line that begins with some."""
    [found] = [line.split() for line in text.splitlines() if line.split()[: len(words)] == list(words)]
    return found


def test_scores_stand_in_the_strict_order_with_what_is_special_about_them() -> None:
    text = printed(judgement())
    table = text.split("twin-lock\n")[0]
    order = [
        text.index(f" {name} ") for name in ("coverage", "alignment", "hallucination", "relevance", "bias-toxicity")
    ]
    assert order == sorted(order)
    assert row(table, "coverage") == ["coverage", "capped", "at", "4", "4.00", "3.00", "5.21"]
    assert row(table, "alignment")[3:] == ["abstained,", "confidence", "0.31", "6.40"]
    assert row(table, "relevance") == ["relevance", "4.00", "error", "7.02"]


def test_summaries_are_compared_row_by_row() -> None:
    better = judgement()
    better.frameworks[0].metrics[2].score = 8
    better.evidence.omitted_claim_count = 5
    text = printed(judgement(), better)
    assert row(text, "twin-lock", "hallucination") == ["twin-lock", "hallucination", "3.00", "8.00"]
    assert row(text, "claims") == ["claims", "3", "8"]
    assert row(text, "unsupported", "claims") == ["unsupported", "claims", "1", "1"]
    assert row(text, "worst", "claim") == ["worst", "claim", "0.20", "0.20"]
    assert row(text, "not", "checked") == ["not", "checked", "0", "5"]
    assert text.count("Claims that are not supported, or only in part") == 2


def test_doubtful_claims_come_worst_first_with_the_source() -> None:
    text = printed(judgement())
    assert "Claims that are not supported, or only in part (2 of 3)" in text
    first = text.index("The city will meet")
    assert first < text.index("closest (contradiction 0.93): The auditor") < text.index("$17 million")
    assert "number: “$17 million”; the source has “$71 million”" in text
    assert "closest (0.41): The work cost $71 million" in text
    assert "replaced 9,300 lead lines" not in text


def test_the_worst_ten_claims_are_listed_and_the_others_counted() -> None:
    result = long_judgement(60)[1]
    text = " ".join(printed(result).split())
    assert "Claims that are not supported, or only in part (30 of 60), worst first" in text
    assert text.count("unsupported Station") == 10
    assert "and 20 more; --json has all" in text
    assert text.index("12 unsupported Station 11") < text.index("4 unsupported Station 3")  # 0.06 before 0.08


def test_what_was_left_out_stands_beside_the_scores() -> None:
    text = printed(long_judgement(20, omitted=980)[1])
    assert text.startswith("Only 20 of the summary's 1,000 claims were checked against the source")
    table = text.split("\nultra")[0]
    assert row(table, "hallucination")[1:] == ["partial,", *["980", "of", "1,000", "claims", "not", "checked", "7.00"]]
    assert row(table, "bias-toxicity")[1:] == ["9.00"]
    assert "(10 of 20; 980 of 1,000 claims not checked)" in text


def test_the_words_of_a_claim_that_are_not_supported_are_named() -> None:
    assert "not supported: “in 1802”" in printed(long_judgement(3)[1])
    assert "not supported:" not in printed(judgement())  # the mismatch and the label say it


def test_what_the_numbers_come_from_is_named() -> None:
    result = judgement()
    assert "21 NLI pairs, 0.00 s; tiny-nli abababab, no language model" in printed(result)
    result.language_model, result.degraded, result.is_cached = "gpt at host", True, True
    result.notes.append("one [bold]note")
    text = " ".join(printed(result).split())
    assert "from the cache" in text
    assert "gpt at host; degraded: the language model gave no usable answer somewhere; one [bold]note" in text


def test_what_the_language_model_cost_is_said_where_there_was_one() -> None:
    result = judgement()
    assert "language model," not in printed(result)
    result.language_model = "gpt at host"
    usage = result.language_model_usage
    usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.retries = 14, 21_300, 840, 1
    text = " ".join(printed(result).split())
    assert "gpt at host; 14 calls of the language model, 21,300 tokens read, 840 written, 1 retry" in text


def test_texts_cannot_drive_the_terminal() -> None:
    result = judgement()
    result.evidence.claims[2].passage.text = "[red]\x1b]0;owned\x07"
    text = printed(result)
    assert "[red]" in text
    assert not set(text) & {"\x1b", "\x07"}


def tallied(*results: pb.JudgeResult, floor: str = "hallucination=3") -> JudgeTally:
    tally = JudgeTally([parse_floor(floor)])
    for number, result in enumerate(results):
        item = Item(f"item-{number}", "Source.", "Summary.")
        tally.add(JudgeAnswer(item.id, item, result, None, ""))
    return tally


def summarized(tally: JudgeTally) -> str:
    file = io.StringIO()
    tally.print(Console(file=file, width=120, highlight=False))
    return file.getvalue()


def test_only_scores_that_count_are_in_the_spread() -> None:
    better = judgement()
    better.frameworks[0].metrics[0].score = 8
    text = summarized(tallied(judgement(), better))
    assert row(text, "twin-lock", "coverage") == ["twin-lock", "coverage", "6.00", "4.40", "6.00", "7.60", "2"]
    assert "ultra alignment: abstained in 2 items" in text
    assert "judge-lock relevance: error in 2 items" in text
    assert not [line for line in text.splitlines() if line.split()[:2] == ["ultra", "alignment"] and "6.40" in line]


def test_items_under_a_limit_are_worse_than_any_other() -> None:
    good, low, breached = judgement(), judgement(), judgement()
    for result in (good, low):
        result.frameworks[1].metrics[2].score = 9
    for framework in low.frameworks:
        framework.mean_score = 0.5
    tally = tallied(good, low, breached)
    assert tally.faults == [("item-2", "judge-lock hallucination 1.67 < 3")]
    assert [row.id for row in tally.worst] == ["item-2", "item-1", "item-0"]


def test_a_bulk_run_tells_what_its_own_calls_cost() -> None:
    result = judgement()
    result.language_model_usage.calls, result.language_model_usage.prompt_tokens = 600, 9_000
    tally = tallied(result, result)
    tally.add(JudgeAnswer("kept", ITEM, result, None, "", is_kept=True))
    assert "1,200 calls of the language model, 18,000 tokens read, 0 written\n" in summarized(tally)
    assert "language model" not in summarized(tallied(judgement()))


def test_a_bulk_run_tells_how_many_claims_were_checked() -> None:
    partial = long_judgement(40, omitted=1_200)[1]
    text = summarized(tallied(partial, partial, floor="hallucination=0"))
    assert "2 items, 0 failed, 2,480 claims, 2,400 not checked, 20 not supported" in text
    assert "ultra hallucination: partial in 2 items" in text


def test_a_value_that_the_source_has_otherwise_is_shown_though_the_claim_is_supported() -> None:
    result = judgement()
    assert "look at these again" not in printed(result)
    [partial] = [claim for claim in result.evidence.claims if claim.mismatches]
    partial.label = evidence_pb2.CLAIM_LABEL_SUPPORTED
    told = printed(result).split("Supported as a whole, but the source has another value (1)")[1]
    assert "“$17 million”; the source has “$71 million”" in told


def test_the_worst_claim_is_named_for_what_it_is() -> None:
    result = judgement()
    assert str(ClaimVerdict(result)) == (
        "All 3 claims were checked against the source: 1 is not supported and 1 is supported only in part; "
        "the worst is claim 3 with 0.20 of 10."
    )
    del result.evidence.claims[1:]
    assert str(ClaimVerdict(result)) == (
        "The summary's one claim was checked against the source: it is supported; "
        "the least certain is claim 1 with 9.60 of 10."
    )


def test_what_was_left_out_is_never_silent() -> None:
    verdict = ClaimVerdict(long_judgement(1_000, omitted=980)[1])
    assert verdict.said == (
        "Only 1,000 of the summary's 1,980 claims were checked against the source: "
        "250 are not supported and 250 are supported only in part"
    )
    assert verdict.left_out == "980 of 1,980 claims not checked"
    assert (verdict.claim_count, verdict.checked_count) == (1_980, 1_000)


@pytest.mark.parametrize("omitted", [0, 3])
def test_support_is_told_of_what_was_checked_alone(omitted: int) -> None:
    result = long_judgement(2, omitted=omitted)[1]
    assert ClaimVerdict(result).said.endswith("all of these are supported")
    assert ClaimVerdict(result).said.startswith("Only 2 of the summary's 5" if omitted else "All 2 claims were")


def test_a_summary_without_claims_is_not_said_to_be_supported() -> None:
    result = judgement()
    del result.evidence.claims[:]
    assert str(ClaimVerdict(result)) == "No claim was checked."
    result.frameworks[0].metrics[2].status = pb.JUDGE_METRIC_STATUS_NO_CLAIMS
    assert str(ClaimVerdict(result)) == "The summary claims nothing that could be checked."
