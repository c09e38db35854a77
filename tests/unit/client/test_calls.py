"""What goes over the wire for the arguments of a call, and what comes out of the answer."""

import precis
import pytest
from precis import errors, gold_standard
from precis.batch import evaluate_batch, judge_batch
from precis.calls import embed, evaluate_request, health_check, judge_request
from precis.evaluation import to_evaluation
from precis.summary_progress import summarize_request, to_document
from precis.v1 import common_pb2, evaluate_pb2, inference_pb2, judge_pb2
from precis.v1 import summarize_pb2 as pb

GOLD = gold_standard("the source", "the gold", key_facts=["one"], entity_list=["Ada"], main_theme="theme")


def test_words_become_the_numbers_of_the_contract() -> None:
    request = judge_request(
        "source",
        "summary",
        frameworks=["ultra", "twin-lock"],
        view="scores",
        priority="bulk",
        options=judge_pb2.JudgeOptions(use_language_model=False),
        tool_scores=[judge_pb2.MetricToolScore(tool="mine", score=3.0)],
    )
    assert (request.source, request.summary) == ("source", "summary")
    assert request.frameworks == [judge_pb2.JUDGE_FRAMEWORK_ULTRA, judge_pb2.JUDGE_FRAMEWORK_TWIN_LOCK]
    assert request.view == common_pb2.RESULT_VIEW_SCORES
    assert request.priority == common_pb2.PRIORITY_BULK
    assert request.options.HasField("use_language_model")
    assert [score.tool for score in request.tool_scores] == ["mine"]


def test_what_is_not_given_is_left_to_the_server() -> None:
    request = judge_request("a", "b", frameworks=(), view=None, priority=None, options=None)
    assert request == judge_pb2.JudgeRequest(source="a", summary="b")
    assert evaluate_request(GOLD, "text", view=None, priority=None, options=None) == evaluate_pb2.EvaluateRequest(
        datum=GOLD, generated=evaluate_pb2.GeneratedSummary(text="text")
    )


@pytest.mark.parametrize(
    ("arguments", "field", "expected"),
    [
        ({"frameworks": ["ultra", "utra"]}, "frameworks", "expected twin-lock, judge-lock, ultra, got 'utra'"),
        ({"view": "all"}, "view", "expected scores, claims, full, got 'all'"),
        ({"priority": "unspecified"}, "priority", "expected interactive, bulk, got 'unspecified'"),
    ],
)
def test_a_word_that_is_not_in_the_contract_is_refused_before_anything_is_sent(
    arguments: dict[str, object], field: str, expected: str
) -> None:
    defaults: dict[str, object] = {"frameworks": (), "view": None, "priority": None, "options": None}
    build: object = judge_batch
    assert callable(build)
    with pytest.raises(errors.InvalidArgument) as caught:
        build(**{**defaults, **arguments})
    assert (caught.value.field, caught.value.expected) == (field, expected)


def test_items_of_a_batch_share_the_settings_and_whole_messages_bring_their_own() -> None:
    batch = judge_batch(frameworks=["ultra"], view="claims", priority=None, options=None)
    item = judge_pb2.JudgeBatchRequest.FromString(batch.encode(("source", "summary")))
    assert item.request == judge_pb2.JudgeRequest(
        source="source",
        summary="summary",
        frameworks=[judge_pb2.JUDGE_FRAMEWORK_ULTRA],
        view=common_pb2.RESULT_VIEW_CLAIMS,
    )
    whole = judge_pb2.JudgeBatchRequest(id="7", request=judge_pb2.JudgeRequest(source="own"))
    assert judge_pb2.JudgeBatchRequest.FromString(batch.encode(whole)) == whole
    evaluations = evaluate_batch(view="full", priority="interactive", options=None)
    other = evaluate_pb2.EvaluateStreamRequest.FromString(evaluations.encode((GOLD, "text"))).request
    assert (other.datum, other.generated.text) == (GOLD, "text")
    assert (other.view, other.priority) == (common_pb2.RESULT_VIEW_FULL, common_pb2.PRIORITY_INTERACTIVE)


def test_a_text_without_an_embedding_is_named_by_its_place_where_the_server_does_not() -> None:
    good = inference_pb2.EmbedResult(embedding=inference_pb2.Embedding(values=[0.5]))
    bad = inference_pb2.EmbedResult(error=common_pb2.ItemError(code=13, message="poisoned"))
    with pytest.raises(errors.Internal) as caught:
        embed(["a", "b"], priority=None).parse(inference_pb2.EmbedResponse(results=[good, bad]).SerializeToString())
    assert caught.value.field == "texts[1]"


def test_a_health_check_is_that_of_grpc() -> None:
    from grpc_health.v1 import health_pb2  # noqa: PLC0415 - after the client's own messages: the two must not clash

    call = health_check("precis.v1.JudgeService")
    request = health_pb2.HealthCheckRequest.FromString(call.request.SerializeToString())
    assert request.service == "precis.v1.JudgeService"
    assert health_check("server").request.SerializeToString() == b""
    for name, number in health_pb2.HealthCheckResponse.ServingStatus.items():
        response = health_pb2.HealthCheckResponse(status=number)
        assert call.parse(response.SerializeToString()) == ("UNKNOWN" if name == "SERVICE_UNKNOWN" else name)


def test_a_document_is_a_text_or_chunks_or_the_message() -> None:
    assert to_document("all of it", "Manual") == pb.Document(name="Manual", text="all of it")
    chunk = pb.DocumentChunk(text="two", page_number=3)
    assert to_document(["one", chunk], "") == pb.Document(chunks=[pb.DocumentChunk(text="one"), chunk])
    whole = pb.Document(document_id="7", text="x")
    assert to_document(whole, "ignored") is whole


def test_every_summary_has_a_key_so_that_it_can_be_asked_for_again() -> None:
    made = [summarize_request(pb.Document(text="x"), None, idempotency_key="").idempotency_key for _ in range(2)]
    assert all(made)
    assert made[0] != made[1]
    budget = pb.SummaryBudget(max_calls=3)
    request = summarize_request(pb.Document(text="x"), None, budget, idempotency_key="mine", include_text=True)
    assert (request.idempotency_key, request.include_text, request.budget) == ("mine", True, budget)


def test_a_component_without_a_score_is_none() -> None:
    response = evaluate_pb2.EvaluateResponse(
        loss=0.25,
        facts=evaluate_pb2.FactsComponent(score=evaluate_pb2.ComponentScore(score=0.5, applicable=True)),
        entities=evaluate_pb2.EntitiesComponent(score=evaluate_pb2.ComponentScore(applicable=False)),
    )
    evaluation = to_evaluation(response)
    assert (evaluation.loss, evaluation.facts, evaluation.entities, evaluation.flow) == (0.25, 0.5, None, None)
    assert evaluation.hard_fail is None
    failed = to_evaluation(evaluate_pb2.EvaluateResponse(loss=1, hard_fail=evaluate_pb2.HardFail(reason="cut short")))
    assert (failed.hard_fail, failed.facts) == ("cut short", None)


def summary_of(text: str, cited: dict[str, tuple[int, ...]]) -> pb.Summary:
    citations = [
        pb.SummaryCitation(
            start=text.index(words),
            end=text.index(words) + len(words),
            places=[pb.SourcePlace(page_number=page) for page in pages],
        )
        for words, pages in cited.items()
    ]
    return pb.Summary(text=text, citations=citations)


@pytest.mark.parametrize(
    ("text", "cited", "expected"),
    [
        ("One. Two.", {"One.": (3,), "Two.": (12, 4, 4)}, "One. [p. 3] Two. [p. 4, 12]"),
        ("One. Two.\nThree.", {"One.": (3,), "Two.": (3,), "Three.": (3,)}, "One. Two. [p. 3]\nThree. [p. 3]"),
        ("| a | b |\n| c | d |", {"| a | b |": (1,), "| c | d |": (2,)}, "| a | b [p. 1] |\n| c | d [p. 2] |"),
        ("# Head\n```\nls -l\n```\n- Item.", {"Head": (1,), "ls -l": (1,), "Item.": (2,)}, None),
        ("No pages. Nothing.", {"No pages.": (0,), "Nothing.": ()}, "No pages. Nothing."),
    ],
)
def test_pages_stand_behind_what_is_cited(text: str, cited: dict[str, tuple[int, ...]], expected: str | None) -> None:
    assert precis.cite_pages(summary_of(text, cited)) == (expected or text.replace("Item.", "Item. [p. 2]"))
