"""Turns tasks into conversations with a chat model.

A prompt names neither the document nor the place of its texts: the answer holds for these texts wherever they stand.
"""

from pipeline.llm.chat_model import ChatMessage
from pipeline.llm.fence import Fence
from pipeline.summarize.document import SummaryType
from pipeline.summarize.llm_writer import prompts
from pipeline.summarize.retention import Retention
from pipeline.summarize.steering.wishes import LengthUnit, Wishes
from pipeline.summarize.writer import CritiqueTask, ExtractTask, MergeStage, MergeTask, TopicsTask

Messages = tuple[ChatMessage, ...]

_WORDS_PER_TOKEN = 0.6
_MOST_EXAMPLES = 5


def extract_messages(task: ExtractTask) -> Messages:
    """Map."""
    texts = [*(chunk.text for chunk in task.chunks), *task.context, task.critique or "", *task.wishes.texts]
    fence = Fence(texts)
    context = "".join(fence.mark(text) for text in task.context)
    user = prompts.EXTRACT_USER.format(
        context=prompts.CONTEXT[task.context_is_source].format(data=context) if context else "",
        wishes=_wishes(fence, task.wishes),
        critique=_critique(fence, task.critique),
        content="".join(fence.mark(chunk.text) for chunk in task.chunks),
    )
    return _conversation(prompts.EXTRACT_SYSTEM, task.summary_type, fence, user)


def merge_messages(task: MergeTask) -> Messages:
    """Reduce."""
    fence = Fence(
        [
            *(extraction.text for extraction in task.extractions),
            task.critique or "",
            *task.wishes.texts,
            task.shape.language,
        ]
    )
    stage = task.stage if task.shape.is_plain else MergeStage.SHAPE  # a final merge may have a shape as well
    user = prompts.MERGE_USER[stage.value].format(
        wishes=_wishes(fence, task.wishes),
        shape=_shape(fence, task),
        critique=_critique(fence, task.critique),
        content="".join(fence.mark(one.text) for one in task.extractions),
        words=_words(task.target_tokens),
    )
    system = prompts.SYSTEM_OF.get(stage.value, prompts.MERGE_SYSTEM)
    return _conversation(system, task.summary_type, fence, user)


def critique_messages(task: CritiqueTask, part: str) -> Messages:
    """Reflect, on a part of the summary if it is too long to be read at once."""
    missing = (term for kind in task.retention.kinds for term in kind.missing)
    fence = Fence([part, *task.wishes.texts, *missing])
    user = prompts.CRITIQUE_USER.format(
        wishes=_wishes(fence, task.wishes),
        length=prompts.CRITIQUE_LENGTH.format(words=_words(task.target_tokens)) if task.target_tokens else "",
        readers=prompts.READERS[task.summary_type],
        retention=_measured(fence, task.retention),
        content=fence.mark(part),
    )
    return _conversation(prompts.CRITIQUE_SYSTEM, task.summary_type, fence, user)


def topics_messages(task: TopicsTask, part: str, *, as_lines: bool) -> Messages:
    """Topics, as JSON or, for a model that cannot write JSON, as lines."""
    fence = Fence([part])
    template = prompts.TOPICS_LINES_USER if as_lines else prompts.TOPICS_USER
    user = template.format(
        content=fence.mark(part),
        min_topics=task.min_topics,
        max_topics=task.max_topics,
    )
    return _conversation(prompts.TOPICS_SYSTEM, SummaryType.TECHNICAL, fence, user)


def _conversation(system: str, summary_type: SummaryType, fence: Fence, user: str) -> Messages:
    rule = prompts.DATA_RULE.format(nonce=fence.nonce).strip()
    text = system.format(audience=prompts.AUDIENCE[summary_type].strip(), data_rule=rule)
    return ChatMessage("system", text.strip()), ChatMessage("user", user.strip())


def _in_line(fence: Fence, words: str) -> str:
    return fence.mark(" ".join(words.split())).replace("\n", "")


def _wishes(fence: Fence, wishes: Wishes) -> str:
    """Returns what the caller wants of every text: his words are data as the document's are."""
    focus = prompts.FOCUS.format(data=fence.mark(wishes.focus)) if wishes.focus else ""
    own = prompts.INSTRUCTIONS.format(data=fence.mark(wishes.instructions)) if wishes.instructions else ""
    return focus + own


def _shape(fence: Fence, task: MergeTask) -> str:
    """Says how long the text shall be, in which form and language."""
    goal, shape = task.shape.goal, prompts.FORMS[task.shape.form]
    if goal is not None:
        words = goal.amount if goal.unit is LengthUnit.WORDS else _words(goal.amount)
        least, most = round(0.95 * words), round(1.05 * words)
        shape = f"about {words} words, not less than {least} and not more than {most}; {shape}"
    return shape + (prompts.LANGUAGE.format(data=_in_line(fence, task.shape.language)) if task.shape.language else "")


def _words(tokens: int) -> int:
    return max(1, int(tokens * _WORDS_PER_TOKEN))


def _critique(fence: Fence, critique: str | None) -> str:
    return prompts.CRITIQUE.format(data=fence.mark(critique)) if critique else ""


def _measured(fence: Fence, retention: Retention) -> str:
    """Says in one line for each kind what share was kept, with examples of what was not."""
    lines = []
    for kind in retention.kinds:
        if kind.input_count:
            line = f"{kind.kind.value.replace('_', ' ')}: {kind.share:.0%} of {kind.input_count}"
            examples = ", ".join(kind.missing[:_MOST_EXAMPLES])
            lines.append(f"{line}, missing for example {_in_line(fence, examples)}" if examples else line)
    return "\n" + "\n".join(lines) if lines else "none"
