"""Pages behind the sentences of a summary."""

import precis
import pytest
from precis.v1 import summarize_pb2 as pb


def summary_of(text: str, cited: dict[str, tuple[int, ...]]) -> pb.Summary:
    citations = [
        pb.SummaryCitation(
            start=text.index(words),
            end=text.index(words) + len(words),
            places=[pb.SourcePlace(page_number=page) for page in pages],
        )
        for words, pages in cited.items()
    ]
    return pb.Summary(text=text, citations=citations)


@pytest.mark.parametrize(
    ("text", "cited", "expected"),
    [
        ("One. Two.", {"One.": (3,), "Two.": (12, 4, 4)}, "One. [p. 3] Two. [p. 4, 12]"),
        ("One. Two.\nThree.", {"One.": (3,), "Two.": (3,), "Three.": (3,)}, "One. Two. [p. 3]\nThree. [p. 3]"),
        ("| a | b |\n| c | d |", {"| a | b |": (1,), "| c | d |": (2,)}, "| a | b [p. 1] |\n| c | d [p. 2] |"),
        ("# Head\n```\nls -l\n```\n- Item.", {"Head": (1,), "ls -l": (1,), "Item.": (2,)}, None),
        ("No pages. Nothing.", {"No pages.": (0,), "Nothing.": ()}, "No pages. Nothing."),
    ],
)
def test_pages_stand_behind_what_is_cited(text: str, cited: dict[str, tuple[int, ...]], expected: str | None) -> None:
    assert precis.cite_pages(summary_of(text, cited)) == (expected or text.replace("Item.", "Item. [p. 2]"))
