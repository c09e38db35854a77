"""How many decisions of a chat a short summary keeps, in each of twelve forms."""

from collections.abc import Sequence

from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.documents.forms import FORMS, Said, read_chat
from scripts.benchmarks.documents.served import Summaries
from scripts.benchmarks.shared.corpus import ROOT

CHATS = ROOT / "scripts" / "data" / "documents" / "chats"
WORDS = 60


async def kept_decisions(summaries: Summaries, name: str) -> dict[str, tuple[int, str]]:
    """Returns how many of the decisions of a chat are in its summary, by form, with the summary."""
    chat = read_chat(CHATS / f"{name}.txt")
    kept = {}
    for form, (suffix, write) in FORMS.items():
        options = pb.SummarizeOptions(target_words=WORDS)
        summary = await summaries.of_text(f"{name}-{form}{suffix}", write(chat), options)
        kept[form] = (count_kept(chat, summary), summary)
    return kept


def count_kept(chat: Sequence[Said], summary: str) -> int:
    """Counts the decisions that are in a summary, word for word."""
    words = " ".join(summary.split())
    return sum(said.is_kept and said.text in words for said in chat)
