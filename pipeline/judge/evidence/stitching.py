"""The premise that is stitched together for one claim: the sentences of the source that between them have its words.

Summarizers join what stands apart. No single sentence entails such a claim, and long windows lead a small NLI model
astray; the two to four sentences that a claim was made from are short enough to be read and hold all there is.
"""

from collections.abc import Sequence

from pipeline.judge.evidence.reading import ReadText
from pipeline.judge.evidence.relevance import WordIndex
from pipeline.judge.evidence.source_windows import Window

_MOST_SENTENCES = 4


def stitch(source: ReadText, index: WordIndex, stems: Sequence[str]) -> Window | None:
    """Returns the sentences that a claim's words were taken from, joined in their order; None for an empty source.

    Each time the sentence is taken that has most of the words not found yet, the first one on a tie, until there is no
    more to find. The passage reaches from the first to the last, its text is the sentences alone.

    Args:
        source: the text.
        index: its words.
        stems: of the claim's content words.
    """
    if not source.sentences:
        return None
    missing, chosen = dict.fromkeys(stems), list[int]()
    while missing and len(chosen) < _MOST_SENTENCES:
        found = index.counts(missing)
        best = int(found.argmax())
        if not found[best]:
            break
        chosen.append(best)
        missing = {stem: None for stem in missing if not index.has(best, stem)}
    places = sorted(chosen) or [0]
    first, last = source.sentences[places[0]], source.sentences[places[-1]]
    text = " ".join(source.passages[place].text for place in places)
    return Window(source.text.passage(first.start, last.end, text), places[0], places[-1] - places[0] + 1)
