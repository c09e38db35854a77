"""Fills the prompts of summaries, which are the files of `pipeline/prompts`.

A prompt names neither the document nor the place of its texts: the answer holds for these texts wherever they stand.
"""

from collections.abc import Iterable

from pipeline.llm.chat_model import ChatMessage
from pipeline.llm.conversation import conversation
from pipeline.llm.fence import Fence
from pipeline.prompts.prompts import Prompts
from pipeline.reading.words import count_words
from pipeline.summarize.document import SummaryType
from pipeline.summarize.retention import Retention
from pipeline.summarize.steering.wishes import LengthUnit, Wishes
from pipeline.summarize.writer import CritiqueTask, ExtractTask, MergeStage, MergeTask, TopicsTask

Messages = tuple[ChatMessage, ...]


def extract_messages(prompts: Prompts, task: ExtractTask) -> Messages:
    """Map."""
    texts = [chunk.text for chunk in task.chunks]
    fence = Fence([*texts, *task.context, task.critique or "", *task.wishes.texts])
    seen = "before" if task.context_is_source else "extracted"
    context = prompts["map"].fill(seen, data=_marked(fence, task.context)) if task.context else ""
    words = {"context": context, "material": _marked(fence, texts), **_shared(prompts, fence, task)}
    if not task.least_share:
        return conversation(prompts["map"], fence, words)
    most = round(task.least_share * sum(map(count_words, texts)))
    return conversation(prompts["map"], fence, words | {"words": str(most)}, "share")


def merge_messages(prompts: Prompts, task: MergeTask) -> Messages:
    """Reduce."""
    texts = [extraction.text for extraction in task.extractions]
    fence = Fence([*texts, task.critique or "", *task.wishes.texts, task.shape.language])
    words = _shared(prompts, fence, task) | {"material": _marked(fence, texts)}
    if task.stage is MergeStage.JSON:
        return conversation(prompts["form"], fence, words)
    if task.stage is MergeStage.SHAPE or not task.shape.is_plain:  # a final merge may have a shape as well
        return conversation(prompts["shape"], fence, words | _shape(prompts, fence, task))
    return conversation(prompts["merge"], fence, words | {"words": str(_words(task.target_tokens))}, task.stage.value)


def critique_messages(prompts: Prompts, task: CritiqueTask, part: str) -> Messages:
    """Reflect, on a part of the summary if it is too long to be read at once."""
    missing = (term for kind in task.retention.kinds for term in kind.missing)
    fence, critic = Fence([part, *task.wishes.texts, *missing]), prompts["critic"]
    words = {
        "wishes": _wishes(prompts, fence, task.wishes),
        "length": critic.fill("length", words=str(_words(task.target_tokens))) if task.target_tokens else "",
        "readers": critic.fill(task.summary_type.value),
        "retention": _measured(fence, task.retention),
        "material": fence.mark(part),
    }
    return conversation(critic, fence, words)


def topics_messages(prompts: Prompts, task: TopicsTask, part: str, *, as_lines: bool) -> Messages:
    """Topics, as JSON or, for a model that cannot write JSON, as lines."""
    fence, counts = Fence([part]), {"min_topics": str(task.min_topics), "max_topics": str(task.max_topics)}
    words = {"material": fence.mark(part), **counts}
    return conversation(prompts["topics"], fence, words, "lines" if as_lines else "user")


def overhead_of(prompts: Prompts) -> tuple[str, ...]:
    """Returns texts that together are longer than the words of ours in any prompt of map and reduce."""
    longest = max((*prompts["map"].sections.values(), *prompts["merge"].sections.values()), key=len)
    audience = max((prompts["shared"].sections[kind.value] for kind in SummaryType), key=len)
    optional = (prompts["shared"].sections[name] for name in ("critique", "focus"))
    return (longest, prompts["map"].sections["user"], audience, *optional)


def _marked(fence: Fence, texts: Iterable[str]) -> str:
    return "".join(map(fence.mark, texts))


def _in_line(fence: Fence, words: str) -> str:
    return fence.mark(" ".join(words.split())).replace("\n", "")


def _shared(prompts: Prompts, fence: Fence, task: ExtractTask | MergeTask) -> dict[str, str]:
    """Returns what map and reduce are told of readers, wishes and an earlier attempt."""
    shared = prompts["shared"]
    return {
        "audience": shared.fill(task.summary_type.value),
        "wishes": _wishes(prompts, fence, task.wishes),
        "critique": shared.fill("critique", data=fence.mark(task.critique)) if task.critique else "",
    }


def _wishes(prompts: Prompts, fence: Fence, wishes: Wishes) -> str:
    """Returns what the caller wants of every text: his words are data as the document's are."""
    wanted = {"focus": wishes.focus, "instructions": wishes.instructions}
    return "\n".join(prompts["shared"].fill(name, data=fence.mark(own)) for name, own in wanted.items() if own)


def _shape(prompts: Prompts, fence: Fence, task: MergeTask) -> dict[str, str]:
    """Says how long the text shall be, in which form and language."""
    template, goal, language = prompts["shape"], task.shape.goal, task.shape.language
    shape = template.fill(task.shape.form.value)
    if goal is not None:
        words = goal.amount if goal.unit is LengthUnit.WORDS else _words(goal.amount)
        least, most = round(0.95 * words), round(1.05 * words)
        shape = template.fill("length", words=str(words), least=str(least), most=str(most), form=shape)
    return {"shape": shape, "language": template.fill("language", data=_in_line(fence, language)) if language else ""}


def _words(tokens: int) -> int:
    return max(1, int(tokens * 0.6))


def _measured(fence: Fence, retention: Retention) -> str:
    """Says in one line for each kind what share was kept, with examples of what was not."""
    lines = []
    for kind in retention.kinds:
        if kind.input_count:
            line = f"{kind.kind.value.replace('_', ' ')}: {kind.share:.0%} of {kind.input_count}"
            examples = ", ".join(kind.missing[:5])
            lines.append(f"{line}, missing for example {_in_line(fence, examples)}" if examples else line)
    return "\n" + "\n".join(lines) if lines else "none"
