"""Evaluate: a real server with tiny models, through the real stub."""

import asyncio
import math
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.app import App
from tests.integration.conftest import Start
from tests.integration.evaluate.evaluations import FACT_COUNT, evaluate_request
from tests.integration.evaluate.load import full_queue, no_pending_items, small_queue
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import log_lines
from tests.integration.support.metrics_page import scrape
from tests.integration.support.rich_errors import details_of, fields_of
from tests.integration.support.spans import spans_of

COMPONENTS = ("facts", "entities", "flow", "semantic", "length")
TEN_MB = "w1 " * 3_500_000


@pytest.fixture
def stub(channel: grpc.aio.Channel) -> EvaluateServiceStub:
    return EvaluateServiceStub(channel)


def texts_of(request: pb.EvaluateRequest) -> dict[str, str]:
    """Lists the texts of a request by the ids that spans use."""
    summary = request.datum.summary
    texts = {
        "datum.entry.text": request.datum.entry.text,
        "datum.summary.summary": summary.summary,
        "datum.summary.main_theme": summary.main_theme,
        "generated.text": request.generated.text,
    }
    for name in ("key_facts", "logical_outline", "entity_list"):
        texts |= {f"datum.summary.{name}[{index}]": text for index, text in enumerate(getattr(summary, name))}
    return texts


async def test_the_loss_is_the_sum_of_the_contributions(stub: EvaluateServiceStub) -> None:
    response = await stub.Evaluate(evaluate_request())
    parts = [getattr(response, name).score for name in COMPONENTS]
    assert response.loss == pytest.approx(sum(part.contribution for part in parts))
    assert [part.weight for part in parts] == pytest.approx([0.40, 0.20, 0.20, 0.15, 0.05])
    assert all(part.contribution == pytest.approx(part.weight * (1 - part.score)) for part in parts)
    assert all(0 <= part.score <= 1 and part.applicable for part in parts)


async def test_every_score_can_be_computed_again_from_the_response(stub: EvaluateServiceStub) -> None:
    response = await stub.Evaluate(evaluate_request())
    facts, flow, length = response.facts, response.flow, response.length
    assert facts.recall == facts.hit_fact_count / facts.fact_count
    assert facts.precision == facts.supported_sentence_count / facts.sentence_count
    total = facts.precision + facts.recall
    assert facts.score.score == pytest.approx(2 * facts.precision * facts.recall / total if total else 0)
    assert response.entities.score.score == response.entities.valid_count / response.entities.entity_count
    assert flow.score.score == pytest.approx(flow.coverage_weight * flow.coverage + flow.order_weight * flow.order)
    assert response.semantic.score.score == pytest.approx(max(0, response.semantic.cosine))
    assert length.deviation == abs(length.generated_tokens - length.target_tokens) / length.target_tokens
    assert length.score.score == pytest.approx(1 - min(1, math.log1p(length.deviation)))


async def test_evidence_points_into_the_texts_that_were_sent(stub: EvaluateServiceStub) -> None:
    request = evaluate_request(view=common_pb2.RESULT_VIEW_FULL)
    response = await stub.Evaluate(request)
    texts, spans = texts_of(request), spans_of(response)
    assert len(response.facts.facts) == FACT_COUNT
    assert len(response.flow.points) == 3
    assert len(response.entities.entities) == 2
    assert len(spans) >= 2 * FACT_COUNT
    assert all(texts[span.text_id][span.start : span.end] == span.text for span in spans)


async def test_the_response_names_models_settings_and_times(stub: EvaluateServiceStub) -> None:
    response = await stub.Evaluate(evaluate_request())
    assert [model.name for model in response.models] == ["tiny", "tiny"]
    assert all(len(model.sha256) == 64 for model in response.models)
    assert response.length.tokenizer == "tiny"
    assert response.applied_options.hit_threshold == 0.5
    assert list(response.applied_options.window_sentences) == [1, 2]
    assert 0 < response.nli.scored_pair_count <= response.nli.exact_pair_count
    timings = response.timings
    phases = (timings.heuristics, timings.embedding, timings.nli, timings.aggregation)
    spent = sum(phase.ToMicroseconds() for phase in phases)
    assert spent == pytest.approx(timings.total.ToMicroseconds(), abs=len(phases))  # each is rounded


async def test_options_replace_the_servers_settings(start: Start) -> None:
    async with (
        start(evaluate={"hit_threshold": 0.6}) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        options = pb.EvaluateOptions(
            weights=pb.EvaluateWeights(length=1),
            nli_mode=pb.NLI_MODE_PRUNED,
            pruned_top_k=1,
            entity_context_threshold=0,
        )
        request = evaluate_request()
        request.options.CopyFrom(options)
        response = await EvaluateServiceStub(channel).Evaluate(request)
    applied = response.applied_options
    assert (applied.hit_threshold, applied.entity_context_threshold) == (0.6, 0)
    assert response.loss == pytest.approx(1 - response.length.score.score)
    assert response.nli.mode == pb.NLI_MODE_PRUNED
    assert response.nli.scored_pair_count < response.nli.exact_pair_count


async def test_empty_gold_lists_do_not_apply_and_their_weight_goes_to_the_rest(stub: EvaluateServiceStub) -> None:
    request = evaluate_request()
    for name in ("key_facts", "logical_outline", "entity_list"):
        request.datum.summary.ClearField(name)
    response = await stub.Evaluate(request)
    assert [getattr(response, name).score.applicable for name in COMPONENTS] == [False, False, False, True, True]
    assert response.semantic.score.weight == pytest.approx(0.75)
    assert response.length.score.weight == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"generated__text": ""}, pb.HARD_FAIL_RULE_TRUNCATION),
        ({"generated__text": "W1 w2 w3 and then"}, pb.HARD_FAIL_RULE_TRUNCATION),
        ({"generated__finish_reason": "length"}, pb.HARD_FAIL_RULE_TRUNCATION),
        ({"generated__text": "This summary covers w1 w2 ."}, pb.HARD_FAIL_RULE_META_COMMENTARY),
        ({"generated__structured_output_requested": True}, pb.HARD_FAIL_RULE_INVALID_JSON),
    ],
    ids=["empty text", "no end", "finish reason", "meta-commentary", "no JSON"],
)
async def test_a_hard_fail_needs_no_model(
    stub: EvaluateServiceStub, gate: Gate, changes: dict[str, Any], rule: int
) -> None:
    gate.close()  # an answer that comes now comes without a forward pass
    response = await stub.Evaluate(evaluate_request(**changes))
    assert (response.loss, response.hard_fail.rule) == (1.0, rule)
    assert response.hard_fail.reason
    assert {field.name for field, _ in response.ListFields()}.isdisjoint(COMPONENTS)
    assert response.nli.scored_pair_count == 0


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.EvaluateRequest(generated=evaluate_request().generated), "datum"),
        (pb.EvaluateRequest(datum=evaluate_request().datum), "generated"),
        (evaluate_request(datum__entry__text=""), "datum.entry.text"),
        (evaluate_request(datum__entry__token_count=-1), "datum.entry.token_count"),
        (evaluate_request(datum__entry__text=TEN_MB), "datum.entry.text"),
        (evaluate_request(generated__text=TEN_MB), "generated.text"),
        (evaluate_request(datum__summary__summary=" "), "datum.summary.summary"),
        (evaluate_request(datum__summary__key_facts=["W1 ."] * 9), "datum.summary.key_facts"),
        (evaluate_request(datum__summary__key_facts=["W1 ."] * 21), "datum.summary.key_facts"),
        (evaluate_request(datum__summary__key_facts=["W1 ."] * 9 + [""]), "datum.summary.key_facts[9]"),
        (evaluate_request(options__nli_mode=9), "options.nli_mode"),
        (evaluate_request(options__precision_source=9), "options.precision_source"),
        (evaluate_request(priority=9), "priority"),
        (evaluate_request(options__hit_threshold=0.0), "options.hit_threshold"),
        (evaluate_request(options__window_sentences=[1, 1]), "options.window_sentences"),
        (evaluate_request(options__window_sentences=[6]), "options.window_sentences[0]"),
        (evaluate_request(options__weights__facts=math.nan), "options.weights.facts"),
        (evaluate_request(options__weights__facts=math.inf), "options.weights.facts"),
        (evaluate_request(options__weights__facts=-0.1, options__weights__flow=1.1), "options.weights.facts"),
        (evaluate_request(options__weights__facts=0.5), "options.weights"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_wrong_field_is_named(stub: EvaluateServiceStub, request_: pb.EvaluateRequest, field: str) -> None:
    with pytest.raises(AioRpcError) as caught:
        await stub.Evaluate(request_)
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == [field]
    assert "expected" in str(caught.value.details())
    assert len(str(caught.value.details())) < 500  # no user text comes back


async def test_invalid_utf8_is_the_callers_error(channel: grpc.aio.Channel) -> None:
    message = evaluate_request(generated__text="PLACE").SerializeToString().replace(b"PLACE", b"\xff\xfe\xfd\xfc\xfb")
    evaluate: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
        "/precis.v1.EvaluateService/Evaluate"
    )
    with pytest.raises(AioRpcError) as caught:
        await evaluate(message)
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == ["generated.text"]


async def test_a_deadline_in_the_queue_ends_the_call_and_its_work(
    app: App, stub: EvaluateServiceStub, gate: Gate
) -> None:
    gate.close()
    with log_lines() as lines:
        assert await stub.Evaluate(evaluate_request(), timeout=0.2).code() is StatusCode.DEADLINE_EXCEEDED
        await lines.wait_for("EvaluateService/Evaluate", "code=DEADLINE_EXCEEDED")
    gate.open()
    await no_pending_items(app)


async def test_a_client_that_leaves_takes_its_work_along(app: App, stub: EvaluateServiceStub, gate: Gate) -> None:
    gate.close()
    call = stub.Evaluate(evaluate_request())
    asked = asyncio.ensure_future(call.code())
    await gate.visited()
    with log_lines() as lines:
        call.cancel()
        assert await asked is StatusCode.CANCELLED
        await lines.wait_for("EvaluateService/Evaluate", "code=CANCELLED")
    gate.open()
    await no_pending_items(app)
    assert (await scrape(app))["precis_calls_in_flight"] == 0
    assert (await stub.Evaluate(evaluate_request(1))).loss > 0


async def test_a_full_queue_refuses_a_unary_call_at_once(start: Start, gate: Gate) -> None:
    async with start(inference=small_queue(100)) as app, grpc.aio.insecure_channel(app.address) as channel:
        stub = EvaluateServiceStub(channel)
        gate.close()
        async with full_queue(app, channel, 100):
            with pytest.raises(AioRpcError) as caught:
                await stub.Evaluate(evaluate_request())
            gate.open()
        assert caught.value.code() is StatusCode.RESOURCE_EXHAUSTED
        assert details_of(caught.value, error_details_pb2.RetryInfo()).HasField("retry_delay")
        assert (await stub.Evaluate(evaluate_request())).loss > 0


async def test_the_same_input_has_the_same_score_in_any_company(stub: EvaluateServiceStub) -> None:
    request = evaluate_request(7)
    alone = await stub.Evaluate(request)
    crowd = [evaluate_request(seed) for seed in range(100, 130)]
    together = await asyncio.gather(*[stub.Evaluate(one) for one in [*crowd[:15], request, *crowd[15:]]])
    assert together[15].loss == pytest.approx(alone.loss, abs=1e-6)
    assert [fact.entailment for fact in together[15].facts.facts] == pytest.approx(
        [fact.entailment for fact in alone.facts.facts], abs=1e-4
    )


async def test_a_long_text_does_not_hold_up_other_calls(app: App, channel: grpc.aio.Channel) -> None:
    request = evaluate_request(datum__entry__text="W1 w2 w3 w4 w5 w6 w7 w8 w9 . " * 30_000)
    request.options.precision_source = pb.PRECISION_SOURCE_SOURCE_TEXT  # refused, but only once the text has been split
    long = asyncio.ensure_future(EvaluateServiceStub(channel).Evaluate(request).code())
    while (await scrape(app))["precis_calls_in_flight"] == 0 and not long.done():
        pass
    await InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1"]))
    assert not long.done()
    assert await long is StatusCode.INVALID_ARGUMENT


async def test_without_the_nli_model_the_call_says_so(start: Start) -> None:
    inference = {"runtime": {"warmup_s": 0.05, "workers": 1}, "roles": ["embedding"]}
    async with start(inference=inference) as app, grpc.aio.insecure_channel(app.address) as channel:
        assert await EvaluateServiceStub(channel).Evaluate(evaluate_request()).code() is StatusCode.FAILED_PRECONDITION
