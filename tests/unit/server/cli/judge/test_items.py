"""What precis judge reads, how bad items are named, and what the server is asked for."""

import json
from pathlib import Path
from typing import Any

import pytest
from precis.v1 import judge_pb2 as pb

from server.cli.bulk import read_json_lines
from server.cli.commands.judge import FrameworkChoice, JudgeOptions
from server.cli.connection import CommandClient
from server.cli.judge.judgements import Item, read_summaries, to_item, to_work


def test_items_are_named_after_their_summaries(tmp_path: Path) -> None:
    for name, text in {"a.txt": "\ufeffSource.", "b.txt": "Summary.\r\n", "c.txt": "Other."}.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert read_summaries(tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.txt") == [
        Item("b.txt", "Source.", "Summary.\r\n"),
        Item("c.txt", "Source.", "Other."),
    ]


def test_lines_are_items_and_other_fields_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    rows: list[dict[str, object]] = [{"id": 7, "source": "S.", "summary": "T.", "model": "x"}]
    rows += [{"source": "S.", "summary": ""}, rows[0], {"id": None, "source": "S.", "summary": ""}]
    path.write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = dict(read_json_lines(path, to_item, "")[0])
    assert str(found.pop("line 5")) == "id: the same as in line 1; every row needs its own"
    assert list(found.values()) == [Item("7", "S.", "T."), Item("line 3", "S.", ""), Item("line 7", "S.", "")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected a JSON object, got list"),
        ('{"source": "S."}', "summary: expected a text, got nothing"),
        ('{"source": null, "summary": "T."}', "source: expected a text, got NoneType"),
        ('{"source": "\\ud800", "summary": "T."}', "not JSON: "),
    ],
)
def test_a_bad_line_is_a_bad_item(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(f"{line}\n{{}}", encoding="utf-8")
    (place, item), _ = read_json_lines(path, to_item, "")[0]
    assert place == "line 1"
    assert str(item).startswith(message)


ITEM = Item("one", "Source.", "Summary.")


class RecordingClient(CommandClient):
    """Keeps the request of the last call."""

    request: pb.JudgeRequest

    async def _send(self, call: Any, timeout_s: float | None) -> Any:  # noqa: ANN401 - a call of any method
        self.request = call.request
        return call.parse(b"")


async def asked(terms: JudgeOptions) -> pb.JudgeRequest:
    client = RecordingClient()
    await to_work(terms, is_bulk=True).send(client, ITEM)
    return client.request


async def test_what_is_not_asked_for_is_left_to_the_server() -> None:
    assert not (await asked(JudgeOptions())).options.HasField("use_language_model")
    assert (await asked(JudgeOptions(no_llm=True))).options.HasField("use_language_model")


def test_a_result_on_other_terms_is_not_kept() -> None:
    ultra, lock = FrameworkChoice.ULTRA, FrameworkChoice.JUDGE_LOCK
    options = (JudgeOptions(), JudgeOptions([ultra, lock]), JudgeOptions(no_llm=True), JudgeOptions([ultra]))
    terms = [to_work(one, is_bulk=True).terms for one in options]
    assert len({ITEM.sha256(*one) for one in terms}) == 3
    assert terms[0] == terms[3]
