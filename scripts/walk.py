"""Counts the files and doors that one warm request walks through: `python -m scripts.walk [Judge|--lower]`.

A door is a pair of files one of which calls the other. Who follows a request through the code opens every file and goes
through every door, so there should be few. With the name of a request its doors are listed.

`tests/doors.json` holds the most that each may have, which may only fall; `--lower` writes what is less now.
"""

import asyncio
import json
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType

import grpc
from google.protobuf import json_format
from precis.v1 import evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub
from precis.v1.inference_pb2_grpc import InferenceServiceStub
from precis.v1.judge_pb2_grpc import JudgeServiceStub
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from server.app import App
from server.settings import Settings
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "scripts" / "data"
BUDGETS = ROOT / "tests" / "doors.json"
ROOMS = tuple(f"{ROOT / room}/" for room in ("inference", "pipeline", "server"))
WITH_A_MODEL = "Summarize with a model"

Send = Callable[[str], Awaitable[object]]
"""Sends one request that holds a word which sets it apart: what was answered before is not computed."""


class Walk:
    """Notes who calls whom on this thread and on those that start later, while `is_noting`."""

    def __init__(self) -> None:
        self.is_noting = False
        self.files: set[str] = set()
        self.doors: set[tuple[str, str]] = set()
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    async def along(self, request: Awaitable[object]) -> None:
        """Notes what one request does."""
        self.files, self.doors, self.is_noting = set(), set(), True
        await request
        self.is_noting = False

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if not self.is_noting or event != "call" or not frame.f_code.co_filename.startswith(ROOMS):
            return
        file, caller = _name(frame), frame.f_back
        self.files.add(file)
        while caller is not None and not caller.f_code.co_filename.startswith(ROOMS):
            caller = caller.f_back  # a library between two rooms is no door
        if caller is not None and _name(caller) != file:
            self.doors.add((_name(caller), file))


def _name(frame: FrameType) -> str:
    return str(Path(frame.f_code.co_filename).relative_to(ROOT))


def requests(channel: grpc.aio.Channel) -> dict[str, Send]:
    """Lists what is walked along."""
    inference, evaluate = InferenceServiceStub(channel), EvaluateServiceStub(channel)
    judge, summarize = JudgeServiceStub(channel), SummarizeServiceStub(channel)
    article, summary = ((DATA / "judge" / f"{name}.txt").read_text("utf-8") for name in ("article", "hallucinated"))
    manual = (DATA / "manual" / "pump-skid.md").read_text("utf-8")
    example = json.loads((DATA / "quickstart.json").read_text("utf-8"))
    candidate = example["candidates"][0]["text"]

    def judged(*names: str) -> Send:
        frameworks = [judge_pb2.JudgeFramework.Value(f"JUDGE_FRAMEWORK_{name}") for name in names]
        return lambda word: judge.Judge(
            judge_pb2.JudgeRequest(source=f"{article} {word}.", summary=f"{summary} {word}.", frameworks=frameworks)
        )

    def evaluated(word: str) -> Awaitable[object]:
        fields = {"datum": example["datum"], "generated": {"text": f"{candidate} {word}."}}
        return evaluate.Evaluate(json_format.ParseDict(fields, evaluate_pb2.EvaluateRequest()))

    async def summarized(word: str) -> None:
        document = summarize_pb2.Document(document_id=word, name=word, text=f"{manual} {word}.")
        async for _ in summarize.Summarize(summarize_pb2.SummarizeRequest(document=document)):
            pass

    return {
        "Embed": lambda word: inference.Embed(inference_pb2.EmbedRequest(texts=[word])),
        "Evaluate": evaluated,
        "Judge": judged(),
        "Judge by Twin-Lock": judged("TWIN_LOCK"),
        "Judge by all three": judged("TWIN_LOCK", "JUDGE_LOCK", "ULTRA"),
        "Summarize": summarized,
    }


@asynccontextmanager
async def serving(**sections: object) -> AsyncIterator[grpc.aio.Channel]:
    """Runs a server with the models of the repository, and connects to it."""
    with tempfile.TemporaryDirectory() as directory:
        values = {"listen": {"port": 0}, "metrics": {"port": 0}, "summary_storage": {"directory": Path(directory)}}
        values["summarize"] = {"jobs": {"poll_s": 3600}}  # what nobody asked for is no part of a walk
        settings = Settings.model_validate({"models_dir": ROOT / "models", **values, **sections})
        async with App(settings) as app, grpc.aio.insecure_channel(app.address) as channel:
            yield channel


async def measure(show: Callable[[str, Walk], None] = lambda _name, _walk: None) -> dict[str, int]:
    """Returns the doors of each request; `show` sees each walk. A language model is one that follows a script."""
    walk, doors = Walk(), dict[str, int]()

    async def follow(name: str, send: Send) -> None:
        await send("Zwyx")
        await walk.along(send("Qvub"))
        doors[name] = len(walk.doors)
        show(name, walk)

    async with serving() as channel:
        for name, send in requests(channel).items():
            await follow(name, send)
    async with ScriptedEndpoint(Script(author=write)) as endpoint:
        llm = {"base_url": endpoint.base_url, "model": "scripted", "context_tokens": 32_768}
        async with serving(llm=llm) as channel:
            await follow(WITH_A_MODEL, requests(channel)["Summarize"])
    return doors


def main(shown: str = "") -> None:
    """Prints the figures, or the doors of one request."""

    def show(name: str, walk: Walk) -> None:
        if name == shown:
            print(*sorted(f"{caller} -> {called}" for caller, called in walk.doors), sep="\n")
        elif shown in {"", "--lower"}:
            print(f"{name:24} {len(walk.files):4} files {len(walk.doors):4} doors")

    doors = asyncio.run(measure(show))
    if shown == "--lower":
        budgets = json.loads(BUDGETS.read_text("utf-8")) if BUDGETS.exists() else doors
        lowered = {name: min(count, budgets.get(name, count)) for name, count in doors.items()}
        BUDGETS.write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2])
