"""Has language models checked, and says for which roles they are, which setting to change, and what they cost."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.check import Abilities, check_model
from pipeline.llm.config import LlmConfig, LlmRole, ModelConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.document import SourceChunk, SummarizeOptions, make_document
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.plan import Planner
from server.cli.commands.summarize import ENDPOINT_FLAGS
from server.cli.console import Grid, print_note, print_result
from server.cli.errors import InputError, NegativeAnswer
from server.settings import Settings, load_settings

Fields = dict[str, Any]


async def check_models(
    named: Mapping[str, object] | None, settings_file: Path | None, *, words: int, as_json: bool, timeout_s: float
) -> None:
    """Asks every model and prints what was found. Raises InputError, and NegativeAnswer where one cannot be used."""
    logging.getLogger().addHandler(logging.NullHandler())  # else warnings of the client stand between the tables
    settings = load_settings(settings_file, overrides={"llm": named} if named else {})
    if settings.llm is None:
        raise InputError("no endpoint is set: set llm.base_url and llm.model, or name --endpoint and --model")
    timeouts = settings.llm.timeouts.model_copy(update={"attempt_s": timeout_s})
    llm = settings.llm.model_copy(update={"timeouts": timeouts, **({"roles": {}} if named else {})})
    uses: dict[ModelConfig, list[str]] = {}
    for use, config in _uses(llm):
        uses.setdefault(config, []).append(use)
    all_found: list[Fields] = []
    flags = {**(ENDPOINT_FLAGS if named else {}), "timeouts.attempt_s": "--timeout"}
    for config, names in uses.items():
        print_note(f"{', '.join(names)}: asking {config.model} at {config.base_url}")
        can, reasons = await check_model(config)
        changes = ((flags.get(name) or setting_of(llm, names[0], name), reason) for name, reason in reasons)
        problems = [f"{reason}: change {change}" for change, reason in changes]
        found: Fields = {"roles": names, "model": config.model, "base_url": config.base_url, "problems": problems}
        if can is not None:
            found |= asdict(can)
            if LlmRole.WRITER in names:
                found["most_cost"] = _most_cost(config, can, words, settings)
        all_found.append(found)
    print_result(all_found, list, _show, as_json=as_json)
    if all_problems := [f"{', '.join(one['roles'])}: {what}" for one in all_found for what in one["problems"]]:
        raise NegativeAnswer("; ".join(all_problems))


def _uses(llm: LlmConfig) -> Iterator[tuple[str, ModelConfig]]:
    """Yields who asks which model: each role, and where it fails its fallback. What changes no answer is left out."""
    for role in LlmRole:
        use, config = role.value, llm.of_role(role)
        while True:
            yield use, config.model_copy(update={"fallback": None, "temperature": None, "max_tokens": None})
            if config.fallback is None:
                break
            use, config = f"{use}.fallback", config.fallback


def setting_of(llm: LlmConfig, use: str, name: str) -> str:
    """Returns where a field of a model is set: for its role, for all roles, or for all."""
    role, *rest = (*use.split("."), name)
    own = {str(one): config.model_fields_set for one, config in llm.roles.items()}
    set_by = next((f"roles.{one}." for one in (role, "all") if rest[0] in own.get(one, ())), "")
    return f"llm.{set_by}{'.'.join(rest)}"


def _most_cost(config: ModelConfig, can: Abilities, words: int, settings: Settings) -> float | None:
    """Returns what a summary of so many words costs at most, thoughts included."""
    texts = ["word " * min(500, words - at) for at in range(0, words, 500)]
    chunks = [SourceChunk(number, number + 1, text) for number, text in enumerate(texts)]
    document = make_document("check", "", chunks, limits=settings.summarize.limits)
    model = OpenAiChatModel(Endpoint(config))
    model.context_tokens = can.context_tokens
    writer = LlmWriter(model, settings.llm_writer, prices=config.prices)
    planner = Planner(document, writer, settings.summarize, SummarizeOptions())
    plan = planner.plan(list(planner.packer.cuts()), [""] * len(planner.parts))
    cost, thoughts = plan.cost(), LlmUsage(completion_tokens=plan.calls() * can.thinking_tokens)
    return None if cost is None else round(cost + config.prices.cost(thoughts), 4)


def _show(console: Console, all_found: Sequence[Fields]) -> None:
    for found in all_found:
        rows = [(name.replace("_", " "), _in_words(value)) for name, value in found.items()]
        console.print(Grid(("", "found"), rows, limit=0).to_table())


def _in_words(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(value) or "none"
    if isinstance(value, bool | None):
        return {True: "yes", False: "no", None: "not told"}[value]
    return value if isinstance(value, str) else f"{value:,}"
