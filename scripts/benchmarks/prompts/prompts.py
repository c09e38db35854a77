"""Benchmark: the prompts in force against small inputs, with the endpoint of the settings (section `llm`).

Values are those of the input that the answer keeps with their subject. Sentences are supported if the gate, with its
model, has nothing against them. The same inputs every time, so that versions of a prompt can be compared.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inference.call import Call, Priority
from inference.config import CacheConfig, InferenceConfig, RuntimeConfig
from inference.engine import Engine
from pipeline.judge.evidence.build import Assistant, build_evidence
from pipeline.judge.evidence.plan import EvidenceRequest, ReadSource
from pipeline.judge.judge import Judge
from pipeline.judge.language_model.level_judge import LlmLevelJudge
from pipeline.judge.language_model.proposals import LlmProposals
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import MetricName
from pipeline.llm.ask import UnusableAnswerError
from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion, LlmUsage, TokenLogprobs
from pipeline.llm.config import LlmRole
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.metering import MeteredChatModel
from pipeline.llm.openai import OpenAiChatModel
from pipeline.prompts.prompts import Prompts
from pipeline.protocols import Models
from pipeline.reading.terms import find_terms
from pipeline.reading.words import count_words
from pipeline.summarize.document import SourceChunk, SummaryType
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.gate.findings import Remedy
from pipeline.summarize.gate.gate import TrustGate
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.retention import Mentions, measure
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, SummaryForm
from pipeline.summarize.writer import (
    CriticVerdict,
    CritiqueTask,
    Extraction,
    ExtractTask,
    MergeStage,
    MergeTask,
    TopicsTask,
)
from scripts.benchmarks.shared.corpus import ROOT
from scripts.benchmarks.shared.report import Figure, Report, Target
from server.cli.console import error_console
from server.rpc.models import CallScope, EngineModels
from server.settings import load_settings
from tests.scripted_endpoint.replies import instance

INPUTS = ROOT / "scripts" / "data" / "prompts.jsonl"
ARTICLE = ROOT / "scripts" / "data" / "judge"
TITLE = "prompts: 24 fixed inputs; share of values kept, of sentences supported, of answers as asked, of verdicts right"
MEASURES = ("kept", "supported", "as asked", "right")
LENGTH_TOLERANCE = 0.1
TARGETS = (Target("judge_prefix_share", 0.6),)
Item = dict[str, Any]


@dataclass
class Tally:
    """What one prompt reached: sums for each measure, and tokens."""

    sums: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    prompt_tokens: int = 0
    completion_tokens: int = 0
    inputs: int = 0

    def mean(self, measure_name: str) -> float | None:
        """Returns the mean; None where nothing was measured."""
        values = self.sums.get(measure_name)
        return sum(values) / len(values) if values else None


class Bench:
    """Asks one endpoint. Belongs to one run."""

    def __init__(self, chat: ChatModel, models: Models) -> None:
        self.chat, self.models = MeteredChatModel(chat), models
        self.writer = LlmWriter(self.chat, LlmWriterConfig())
        self.gate = TrustGate(TrustConfig(), models.entailment)

    async def measure(self, item: Item) -> dict[str, float]:
        """Asks about one input. Returns its measures."""
        match item["prompt"]:
            case "map":
                chunks = tuple(SourceChunk(place, 1, text) for place, text in enumerate(item["texts"]))
                task = ExtractTask(SummaryType.TECHNICAL, "", 0, 1, chunks)
                return await self._text(task, (await self.writer.extract(task)).text)
            case "merge" | "shape":
                return await self._merged(item)
            case "critic":
                return await self._critique(item)
            case "topics":
                topics = await self.writer.topics(TopicsTask("", item["texts"][0]))
                words = item["texts"][0].lower()
                known = [any(word in words for word in topic.lower().split()) for topic in topics.topics]
                return {"as asked": float(len(known) >= 5), "supported": sum(known) / max(1, len(known))}  # noqa: PLR2004
            case "questions":
                return await self._questions(item)
            case _:
                return await self._level(item)

    async def _text(self, task: ExtractTask | MergeTask, text: str) -> dict[str, float]:
        case = await self.gate.read(task, room=1.0, caller="")
        checked = await self.gate.check(await self.gate.inspect(text, case), case)
        removed = {Remedy.DROPPED, Remedy.CORRECTED}
        wrong = sum(one.remedy in removed for one in checked.trust.findings)
        chatter = any(one.remedy is Remedy.REMOVED for one in checked.trust.findings)
        return {
            "kept": checked.recall.share,
            "supported": 1 - wrong / max(1, checked.trust.part_count),
            "as asked": float(not chatter and checked.is_usable),
        }

    async def _merged(self, item: Item) -> dict[str, float]:
        texts = tuple(Extraction(text, (place, place), (1, 1)) for place, text in enumerate(item["texts"]))
        goal = LengthGoal(item["words"], LengthUnit.WORDS) if "words" in item else None
        shape = Shape(goal, SummaryForm(item.get("form", "markdown")))
        stage = MergeStage.SHAPE if goal else MergeStage.FINAL
        most = 2 * item["words"] + 100 if goal else 1_000
        task = MergeTask(SummaryType.TECHNICAL, "", stage, 1, 0, 1, texts, most, shape=shape)
        text = (await self.writer.merge(task)).text
        found = await self._text(task, text)
        if goal:
            found["as asked"] *= float(abs(count_words(text) / item["words"] - 1) <= LENGTH_TOLERANCE)
        return found

    async def _critique(self, item: Item) -> dict[str, float]:
        summary = item["summary"]
        passages = "\n".join(item["texts"])
        retention = measure(find_terms(passages), [Mentions.of(summary)])
        task = CritiqueTask(SummaryType.TECHNICAL, "", 1, summary, retention, passages=passages)
        found = await self.writer.critique(task)
        has_faults = found.critic_verdict is CriticVerdict.FAIL and not found.is_general  # what begins again
        is_read = found.critic_verdict is not CriticVerdict.UNPARSEABLE
        return {"as asked": float(is_read), "right": float(has_faults == item["is_bad"])}

    async def _questions(self, item: Item) -> dict[str, float]:
        propose = LlmProposals(self.chat).propose
        request = EvidenceRequest(ReadSource(item["texts"][0]), item["summary"])
        table = await build_evidence(request, self.models, assistant=Assistant(propose))
        asked = (*table.coverage_questions, *table.claim_questions)
        answered = sum(one.given is not None for one in asked)
        return {"as asked": float(not table.proposals_failed), "right": answered / max(1, len(asked))}

    async def _level(self, item: Item) -> dict[str, float]:
        table = await build_evidence(EvidenceRequest(ReadSource(item["texts"][0]), item["summary"]), self.models)
        try:
            reading = await LlmLevelJudge(self.chat).read_level(MetricName.HALLUCINATION, table)
        except UnusableAnswerError:
            return {"as asked": 0.0, "right": 0.0}
        is_low = sum(reading.probabilities[:2]) > sum(reading.probabilities[3:])
        return {"as asked": 1.0, "right": float(is_low == item["is_bad"])}


class Recorder(MeteredChatModel):
    """Answers with the smallest JSON that fits, and remembers what was asked."""

    prompts_asked: list[str]

    async def complete(self, request: ChatRequest) -> Completion:
        """Records a request."""
        self.prompts_asked.append("\0".join(message.content for message in request.messages))
        text = json.dumps(instance(request.json_schema or {}, "words")).replace(
            '"question": 0, "quote": 0', '"question": 1, "quote": null'
        )
        start, letter, _ = text.partition("A")  # no further answers are sampled where a letter has a probability
        places = (TokenLogprobs((), start), TokenLogprobs((("A", 0.0),), letter))
        return Completion(text, "stop", LlmUsage(1, 1, 1), "recorder", places)


def repeated_share(prompts: Sequence[str]) -> float:
    """Returns the share of some prompts' characters that stand at the beginning of an earlier one, as a cache reads."""
    repeated = sum(
        max((_common(prompt, before) for before in prompts[:at]), default=0) for at, prompt in enumerate(prompts)
    )
    return repeated / sum(map(len, prompts))


def _common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def run(models: Path, _data: Path, *, quick: bool) -> Report:
    """Asks about all inputs; quick: about the first of each prompt."""
    items = [json.loads(line) for line in INPUTS.read_text("utf-8").splitlines()]
    if quick:
        items = list({item["prompt"]: item for item in reversed(items)}.values())[::-1]
    return _report(*asyncio.run(_run(models, items)))


async def _run(folder: Path, items: Sequence[Item]) -> tuple[dict[str, Tally], float, Prompts]:
    llm = load_settings().llm
    if llm is None:
        raise ValueError("set PRECIS_LLM__BASE_URL and PRECIS_LLM__MODEL: the endpoint to measure with")
    config = InferenceConfig(cache=CacheConfig(), runtime=RuntimeConfig(warmup_s=0.5))
    tallies: dict[str, Tally] = defaultdict(Tally)
    async with Engine(folder, config) as engine, Endpoint(llm) as endpoint:
        models = EngineModels(engine).bound(CallScope(Call(None, Priority.BULK), max_queue_wait_s=60))
        chat = OpenAiChatModel(endpoint)
        for item in items:
            bench, tally = Bench(chat, models), tallies[item["prompt"]]
            found = await bench.measure(item)
            error_console().print(item["prompt"], item["kind"], found, bench.chat.usage)
            for name, value in found.items():
                tally.sums[name].append(value)
            tally.inputs += 1
            tally.prompt_tokens += bench.chat.usage.prompt_tokens
            tally.completion_tokens += bench.chat.usage.completion_tokens
        return tallies, await _prefix_share(chat, models), llm.prompts


async def _prefix_share(chat: ChatModel, models: Models) -> float:
    recorder = Recorder(chat)
    recorder.prompts_asked = []
    source, summary = ((ARTICLE / name).read_text("utf-8") for name in ("article.txt", "faithful.txt"))
    await Judge().judge(JudgeRequest(source, summary), replace(models, chat=recorder))
    return repeated_share(recorder.prompts_asked)


def _report(tallies: dict[str, Tally], prefix_share: float, prompts: Prompts) -> Report:
    figures: dict[str, Figure] = {"prompts": prompts.identity(*LlmRole)}
    for name, tally in tallies.items():
        figures |= {
            f"{name}_{one.replace(' ', '_')}": mean for one in MEASURES if (mean := tally.mean(one)) is not None
        }
        figures[f"{name}_tokens"] = tally.prompt_tokens + tally.completion_tokens
    return Report(
        title=TITLE,
        columns=("prompt", "version", "inputs", *MEASURES, "tokens in", "out"),
        rows=[[name, prompts[name].version, *_row(tally)] for name, tally in tallies.items()],
        figures=figures | {"judge_prefix_share": prefix_share},
        targets=TARGETS,
    )


def _row(tally: Tally) -> Iterator[str]:
    yield str(tally.inputs)
    yield from ("-" if (mean := tally.mean(one)) is None else f"{mean:.2f}" for one in MEASURES)
    yield from (str(tally.prompt_tokens), str(tally.completion_tokens))
