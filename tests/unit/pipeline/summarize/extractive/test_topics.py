import numpy as np

from pipeline.summarize.extractive.excerpt import read_excerpts
from pipeline.summarize.extractive.selection import Float64
from pipeline.summarize.extractive.topics import choose_topics, find_phrases
from tests.fakes_pipeline import bag_of_words
from tests.unit.pipeline.summarize.extractive.manual import count_tokens

TEXT = """\
# Chapter 1. Cooling Water Supply

The centrifugal pump moves water. A centrifugal pump needs bearing grease. Good bearing grease lasts.

## 1.1. Pressure Relief

The relief valve protects the centrifugal pump. Every relief valve is tested.

# Introduction

Centrifugal pumps are common.
"""


def topics(text: str, *, fewest: int = 5, most: int = 10) -> tuple[str, ...]:
    excerpts = read_excerpts([text], count_tokens)
    phrases = find_phrases(excerpts)
    return choose_topics(
        phrases,
        vectors([phrase.text for phrase in phrases]),
        vectors([each.text for each in excerpts]),
        fewest=fewest,
        most=most,
    )


def vectors(texts: list[str]) -> Float64:
    return np.stack([bag_of_words(text) for text in texts]).astype(np.float64)


def test_headings_and_repeated_phrases_become_topics_without_numbers_and_repeats() -> None:
    found = topics(TEXT)
    assert {"Cooling Water Supply", "Pressure Relief", "Centrifugal pump", "Relief valve", "Bearing grease"} <= set(
        found
    )
    assert not any("1" in topic or topic == "Introduction" for topic in topics(TEXT))
    assert "Safety rules" in topics("## 2 Safety rules\n\nThe pump runs at ten bar and the valve is shut by hand.")
    words = [set(topic.lower().rstrip("s").split()) for topic in topics(TEXT)]
    assert all(not left <= right for left in words for right in words if left is not right)
    assert len(topics(TEXT, most=3)) == 3


def test_common_words_are_topics_only_where_there_are_too_few_others() -> None:
    text = "The pump is in the hall. In the hall is the pump. A relief valve is here. The relief valve is in the hall."
    assert "Pump" in topics(text, fewest=5)
    assert topics(text, fewest=1) == ("Relief valve",)


def test_a_phrase_counts_in_singular_and_plural_and_has_no_stop_word_at_its_ends() -> None:
    excerpts = read_excerpts([TEXT], count_tokens)
    assert [phrase.count for phrase in find_phrases(excerpts) if phrase.text == "centrifugal pump"] == [4]
    excerpts = read_excerpts(["The state of the art of the pump. The state of the art of the valve."], count_tokens)
    words = {word for phrase in find_phrases(excerpts) for word in (phrase.text.split()[0], phrase.text.split()[-1])}
    assert not words & {"the", "The", "of"}


def test_a_text_without_words_has_no_topics_and_a_long_one_a_bounded_number_of_candidates() -> None:
    assert find_phrases(read_excerpts(["12 34 56."], count_tokens)) == []
    assert choose_topics([], vectors(["x"]), vectors(["x"]), fewest=5, most=10) == ()
    text = " ".join(f"Word{chr(97 + a)}{chr(97 + b)} stands here." for a in range(26) for b in range(26))
    assert len(find_phrases(read_excerpts([text], count_tokens))) == 160


def test_a_file_of_several_is_no_topic_and_hides_no_heading() -> None:
    files = f"## manuals/cooling.docx\n\n{TEXT.replace('# ', '### ')}\n\n## my notes.txt\n\nBearing grease lasts."
    found = topics(files)
    assert not any("docx" in topic or "notes" in topic for topic in found)
    assert "Cooling Water Supply" in found


def test_what_says_that_something_happens_or_counts_is_no_topic_and_a_name_said_once_is() -> None:
    text = (
        "The rollback took four minutes on Friday. The debate began in March. It cost 41 million kroner. "
        "Ingrid Solvang spoke of distributed systems, and distributed systems are slow."
    )
    assert set(topics(text, fewest=1)) == {"Distributed systems", "Ingrid Solvang"}


def test_a_topic_of_a_script_without_spaces_is_a_term_that_comes_again_and_no_sentence() -> None:
    text = "冷却水泵在三巴下运行。冷却水泵每周检查一次。安全阀在五巴打开。安全阀每年更换。"
    assert set(topics(text, fewest=2)) >= {"冷却水泵", "安全阀"}
