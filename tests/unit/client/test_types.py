"""A type checker finds a user's mistakes: the client is typed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

USER = """
import precis

async def judged(pairs: list[tuple[str, str]]) -> float:
    async with precis.AsyncClient(timeout_s=5) as client:
        async for item in client.judge_batch(pairs, view="scores"):
            if item.error is not None:
                print(item.error.field, item.error.retry_delay_s)
        return (await client.judge("a", "b", frameworks=["ultra"])).hallucination

with precis.Client("127.0.0.1:50051", api_key="key", tls=precis.Tls(ca="ca.pem")) as client:
    judgement = client.judge("source", "summary", timeout_s=3)
    print(judgement.hallucination + 1, [claim.text for claim in judgement.unsupported])
    print(sum(client.embed(["text"])[0].values))
    loss: float = client.evaluate(precis.gold_standard("source", "gold"), "summary").loss
    run = client.summarize("text", name="manual")
    for step in run:
        print(step.calls_done / step.calls_total, step.phase == "map")
    print(run.result().text, client.health()["server"] == "SERVING")
    try:
        client.models()
    except precis.errors.Overloaded as error:
        print(error.retry_delay_s)
"""
MISTAKES = """
import precis

precis.Cliemt()
with precis.Client(addresz="x") as client:
    judgement = client.judge("a", sumnary="b")
    client.judge("a", "b", frameworks=["utra"])
    judgement.halucination
    judgement.claims[0].labeI
    judgement.claims[0].label == "unsupportet"
    for item in client.judge_batch([("a", "b")]):
        item.result().scores
    client.summarize("a").result().txt
    for step in client.summarize(7):
        step.call_done
"""
EXPECTED = [
    (3, 'Module has no attribute "Cliemt"'),
    (4, 'Unexpected keyword argument "addresz"'),
    (5, 'Unexpected keyword argument "sumnary"'),
    (6, "List item 0 has incompatible type \"Literal['utra']\""),
    (7, 'has no attribute "halucination"'),
    (8, 'has no attribute "labeI"'),
    (9, "Non-overlapping equality check"),
    (11, '"Judgement" has no attribute "scores"'),
    (12, '"Summary" has no attribute "txt"'),
    (13, 'Argument 1 to "summarize" of "Client" has incompatible type "int"'),
    (14, '"SummaryStep" has no attribute "call_done"'),
]


def mypy(text: str, folder: Path) -> list[str]:
    """Checks a file as a user would who has only the packages installed."""
    (folder / "user.py").write_text(text.lstrip(), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(folder / "cache"), "user.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT / "protos")},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in run.stdout.splitlines() if line.startswith("user.py")]


def test_right_use_is_clean(tmp_path: Path) -> None:
    assert mypy(USER, tmp_path) == []


def test_every_mistake_is_found_in_its_line(tmp_path: Path) -> None:
    lines = mypy(MISTAKES, tmp_path)
    for number, message in EXPECTED:
        assert [line for line in lines if line.startswith(f"user.py:{number}:") and message in line], message
