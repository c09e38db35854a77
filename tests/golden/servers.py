"""The servers that answer golden requests: real ones with the installed models."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from server.app import App
from server.settings import Settings
from tests.golden.case import EMBEDDING_ONLY, PLAIN, SCRIPTED
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

MODELS = Path(__file__).resolve().parents[2] / "models"
CHOICES = {"B": 0.7, "C": 0.2, "A": 0.1}
CRITIC = r"(?s)^Document: .*{}.*Reply PASS or FAIL"


@dataclass(frozen=True, slots=True)
class Servers:
    """All of them, running."""

    channels: dict[str, grpc.aio.Channel]  # to each, by name
    endpoint_url: str  # of the language model; a part of answers that differs from run to run


@asynccontextmanager
async def golden_servers(directory: Path) -> AsyncIterator[Servers]:
    """Runs a server without a language model, one with a scripted one, and one without the NLI model.

    Args:
        directory: for summaries; empty.
    """
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(ScriptedEndpoint(Script(replies=_replies())))
        llm = {
            "base_url": endpoint.base_url,
            "model": "scripted",
            "retries": {"max_attempts": 2, "base_delay_s": 0.0},
            "rates": {"max_concurrency": 1},  # one call after another: steps finish in the same order every time
        }
        sections: dict[str, dict[str, Any]] = {
            PLAIN: {},
            SCRIPTED: {"llm": llm},
            EMBEDDING_ONLY: {"inference": {"runtime": {"warmup_s": 0.2}, "roles": ("embedding",)}},
        }
        channels: dict[str, grpc.aio.Channel] = {}
        for name, section in sections.items():
            app = await stack.enter_async_context(App(_settings(directory / name, **section)))
            channels[name] = await stack.enter_async_context(grpc.aio.insecure_channel(app.address))
        yield Servers(channels, endpoint.base_url)


def _settings(directory: Path, **sections: Any) -> Settings:  # noqa: ANN401
    values: dict[str, Any] = {
        "models_dir": MODELS,
        "listen": {"port": 0},
        "metrics": {"enabled": False},
        "summary_storage": {"directory": directory},
        "inference": {"runtime": {"warmup_s": 0.2}},
        "judge": {"cache": {"max_judgements": 0}},  # an answer must not depend on the requests before it
    }
    return Settings(**{**values, **sections})


def _replies() -> tuple[Reply, ...]:
    """What the language model answers. Other prompts get an instance of their schema, or their own end."""
    return (*_writer_replies(), *judge_replies(), *_synthesis_replies())


def _writer_replies() -> tuple[Reply, ...]:
    missing = "FAIL: the step about TORQUE-LIST is missing."
    return (
        Reply(r"Document: .*golden-silence", ""),
        Reply(CRITIC.format("golden-fails then.*Second version"), "PASS: now complete."),
        Reply(CRITIC.format("golden-fails"), missing),
        Reply(CRITIC.format("golden-unreadable"), "It is a nice text."),
        Reply(CRITIC.format("golden-"), "PASS: complete."),
        Reply(r"(?s)golden-fails then.*TORQUE-LIST", "Second version: torque bolt B1 to 11 Nm, never exceed 3 bar."),
    )


def judge_replies() -> tuple[Reply, ...]:
    """What a good language model answers to the prompts of a judge."""
    asked = [(0, "9,300"), (1, "$71 million"), (2, "Anna Reyes"), (3, "2027"), (4, "March"), (5, "town hall")]
    claimed = [(0, "9,300"), (0, "June 2023"), (0, "Harlow Falls"), (1, "$17 million"), (1, "auditor"), (1, "deadline")]
    grade = {"level": "B", "reason": "It is mostly right.", "quotes": ["replaced 9,300 lead service lines"]}
    return (
        Reply("at most five short stretches", json.dumps(grade), choices=CHOICES),
        Reply("You grade one quality", json.dumps({"level": "B"}), choices=CHOICES),
        Reply("Statements of an article(?s:.*)Harlow", _questions("article", asked, key_points=[0, 1, 2, 3])),
        Reply("Statements, with ids(?s:.*)Harlow", _questions("summary", claimed)),
        Reply("What of the article", _answers("9,300", "$17 million", None, None, None, None)),
        Reply("What of the summary", _answers("9,300", "June 2023", "Harlow Falls", "$71 million", "auditor", "x")),
    )


def _synthesis_replies() -> tuple[Reply, ...]:
    answer = {
        "final_answer": "C",
        "quality_reasoning": "The edges are soft.",
        "used_evidence": ["D1", "T1"],
        "need_replan": False,
        "replan_reason": None,
    }
    return (
        Reply("golden-unusable", "I cannot help with that."),
        Reply("(?s)How good is this image.*quality_reasoning|(?s:What is wrong with this image)", json.dumps(answer)),
    )


def _questions(about: str, pairs: list[tuple[int, str]], **more: object) -> str:
    written = [{"id": place, "question": f"What of the {about}?", "answer": answer} for place, answer in pairs]
    return json.dumps({"questions": written, **more})


def _answers(*quotes: str | None) -> str:
    return json.dumps({"answers": [{"question": place, "quote": quote} for place, quote in enumerate(quotes, start=1)]})
