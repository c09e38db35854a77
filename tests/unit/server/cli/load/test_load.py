"""Loops of a load, percentiles, made-up requests, and what is said of them."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from precis.oip import open_inference_pb2
from precis.v1 import inference_pb2

from server.cli.commands.probe import LoadOptions
from server.cli.errors import InputError
from server.cli.load import Measurement, Pace, find_target, measure, notes_of, points, render_load, sentence, to_fields


class Even(Pace):
    """Calls at equal distances."""

    def arrivals(self) -> Iterator[float]:
        yield from (number / self.rate for number in itertools.count(1))


SHORT = LoadOptions(warmup=0.0, seconds=0.5)


def measured(pace: Pace, waits_us: list[int], codes: dict[str, int] | None = None) -> Measurement:
    row = Measurement(pace, 1.0)
    for wait in waits_us:
        row.waits_ms.append(wait / 1e3)
    row.codes.update(codes or {"OK": len(waits_us)})
    return row


async def test_a_closed_loop_never_has_more_calls_than_callers() -> None:
    running, most = 0, 0

    async def call() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return "OK"

    row = await measure(call, Pace(callers=3), SHORT)
    assert most == 3
    assert row.codes["OK"] == len(row.waits_ms) > 3


async def test_an_open_loop_calls_though_nothing_is_answered_and_counts_the_wait() -> None:
    released, numbers = asyncio.Event(), itertools.count()

    async def call() -> str:
        if next(numbers) == 20:
            released.set()
        await released.wait()
        return "OK"

    row = await measure(call, Even(rate=128), LoadOptions(warmup=0.0, seconds=0.25))
    assert row.codes["OK"] == 31
    assert max(row.waits_ms) >= 155  # the first was due 20/128 s before it was let go


def test_poisson_gaps_have_the_mean_and_the_spread_of_the_exponential_distribution() -> None:
    times = list(itertools.islice(Pace(rate=10).arrivals(), 20_000))
    gaps = [after - before for before, after in itertools.pairwise([0.0, *times])]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert mean == pytest.approx(0.1, rel=0.03)
    assert deviation == pytest.approx(0.1, rel=0.03)
    assert list(itertools.islice(Pace(rate=10).arrivals(), 5)) == times[:5]


def test_a_percentile_without_answers_beyond_it_is_not_told() -> None:
    row = measured(Pace(rate=100), [1000 * number for number in range(1, 101)])
    assert row.wait_ms(50) == pytest.approx(50, rel=0.01)
    assert row.wait_ms(90) == pytest.approx(90, rel=0.01)
    assert row.wait_ms(99) is None
    assert to_fields(row)["p99_ms"] is None


def test_a_late_generator_and_repeated_requests_are_told(tmp_path: Path) -> None:
    data = tmp_path / "requests.jsonl"
    data.write_text('{"texts": ["one"]}\n')
    row = measured(Pace(rate=100), [1000] * 20, {"OK": 18, "RESOURCE_EXHAUSTED": 2})
    row.lags_ms.append(0.5)
    notes = " ".join(notes_of(find_target("embed", data), [row]))
    assert "0.5 ms late" in notes
    assert "1 different requests" in notes
    assert "2 RESOURCE_EXHAUSTED" in notes


def test_made_up_requests_differ() -> None:
    assert len({sentence(number) for number in range(1000)}) == 1000
    for name in ("embed", "entail", "judge", "oip:nli", "oip:embed", "oip:judge"):
        make = find_target(name, None).make
        assert len({make(number).SerializeToString() for number in range(50)}) == 50


def test_requests_of_a_file_are_sent_in_turn(tmp_path: Path) -> None:
    data = tmp_path / "requests.jsonl"
    data.write_text('{"texts": ["one"]}\n\n{"texts": ["two"]}\n')
    target = find_target("precis.v1.InferenceService/Embed", data)
    assert [target.make(number) for number in range(3)] == [
        inference_pb2.EmbedRequest(texts=[text]) for text in ("one", "two", "one")
    ]


def test_tensors_are_read_as_grpcurl_reads_them(tmp_path: Path) -> None:
    data = tmp_path / "requests.jsonl"
    tensor = {"name": "pixels", "datatype": "FP32", "shape": [1, 2, 2], "contents": {"fp32Contents": [1, 2, 3, 4]}}
    data.write_text(json.dumps({"inputs": [tensor]}))
    request = find_target("oip:resnet", data).make(0)
    assert isinstance(request, open_inference_pb2.ModelInferRequest)
    assert (request.model_name, list(request.inputs[0].shape)) == ("resnet", [1, 2, 2])
    assert list(request.inputs[0].contents.fp32_contents) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("nothing", None, "no RPC"),
        ("EvaluateStream", None, "no RPC"),
        ("evaluate", None, "--data"),
        ("oip:resnet", None, "--data"),
        ("embed", "", "no rows"),
        ("embed", "[1]", "line 1"),
        ("embed", '{"texts": ["a"]}\n{"txts": 1}', "line 2"),
        ("oip:nli", '{"inputs": [{"nme": "x"}]}', "line 1"),
    ],
)
def test_what_cannot_be_sent_is_refused(tmp_path: Path, name: str, content: str | None, part: str) -> None:
    data = tmp_path / "requests.jsonl"
    data.write_text(content or "")
    with pytest.raises(InputError, match=part):
        find_target(name, data if content is not None else None)


def test_the_page_plots_percentiles_against_answers_a_second() -> None:
    rows = [measured(Pace(rate=rate), [int(wait * 1000)] * 20) for rate, wait in ((10, 1), (20, 10))]
    rows[1].codes["OK"] = 40
    assert [rate for rate, _ in points(rows, 50)] == [20, 40]
    assert [wait for _, wait in points(rows, 50)] == pytest.approx([1, 10], rel=0.01)
    page = render_load(find_target("embed", None), rows, ["a <note>"])
    assert "<polyline" in page
    assert "open, 10/s Poisson" in page
    assert "a &lt;note&gt;" in page


async def test_answers_that_come_late_are_no_rate_of_the_time_asked_for() -> None:
    released = asyncio.Event()

    async def call() -> str:
        await released.wait()
        return "OK"

    asyncio.get_running_loop().call_later(0.5, released.set)
    row = await measure(call, Even(rate=128), LoadOptions(warmup=0.0, seconds=0.25))
    assert row.codes["OK"] == 31
    assert row.answered_rate <= 62.5  # of a server that took twice the time
