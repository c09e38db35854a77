"""How much of what must be said is in half of a text: of contracts, dialogues, German and Chinese."""

from collections.abc import Iterator
from dataclasses import dataclass

from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.documents.served import Summaries
from scripts.benchmarks.shared.corpus import ROOT

_FOLDER = ROOT / "scripts" / "data" / "kinds" / "sets"
JOINTS = {"contracts": "\n", "dialogues": "\n", "german": " ", "chinese": ""}
"""The sets, and what stands between the lines of their documents."""
SHARE = 0.5
QUICK_STEP = 6


@dataclass(frozen=True)
class Small:
    """A small document, and what its summary must have."""

    text: str
    musts: tuple[str, ...]

    def kept(self, summary: str) -> float:
        """Returns the share of it that is in a summary, word for word."""
        words = " ".join(summary.split())
        return sum(must in words for must in self.musts) / len(self.musts)


def read_set(name: str) -> Iterator[Small]:
    """Yields the documents of a set; the number of a clause and the name of a speaker need not be kept."""
    for part in (_FOLDER / f"{name}.txt").read_text("utf-8").split("\n== ")[1:]:
        lines = part.splitlines()[1:]
        marked = (line[1:] for line in lines if line.startswith("*"))
        has_head = JOINTS[name] == "\n"
        musts = tuple(line.split(" ", 1)[1] if has_head else line for line in marked)
        yield Small(JOINTS[name].join(line.removeprefix("*") for line in lines), musts)


async def recall(summaries: Summaries, name: str, *, quick: bool) -> float:
    """Returns the mean share that is kept; --quick summarizes every sixth document."""
    kept = []
    for small in list(read_set(name))[:: QUICK_STEP if quick else 1]:
        options = pb.SummarizeOptions(target_share=SHARE)
        kept.append(small.kept(await summaries.of_text(f"{name}.txt", small.text, options)))
    return sum(kept) / len(kept)
