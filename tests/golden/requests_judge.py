"""Golden requests of JudgeService: Judge and JudgeStream."""

import math
from typing import Any

from precis.v1 import fusion_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.common_pb2 import PRIORITY_BULK

from tests.golden.case import EMBEDDING_ONLY, PLAIN, SCRIPTED, Case, cases, to_bytes
from tests.golden.texts import (
    ARTICLE,
    CITY,
    CITY_FAITHFUL,
    CITY_SUMMARIES,
    CITY_SUMMARY,
    FAITHFUL,
    FOREIGN,
    GOLD,
    HALLUCINATED,
    MANUAL,
)

JUDGE = "precis.v1.JudgeService.Judge"
STREAM = "precis.v1.JudgeService.JudgeStream"
BATCH = "precis.v1.JudgeService.JudgeBatch"
UNKNOWN: Any = 99  # proto3 lets unknown numbers through
COVERAGE, HALLUCINATION = pb.JUDGE_METRIC_NAME_COVERAGE, pb.JUDGE_METRIC_NAME_HALLUCINATION
TWIN, LOCK, ULTRA = pb.JUDGE_FRAMEWORK_TWIN_LOCK, pb.JUDGE_FRAMEWORK_JUDGE_LOCK, pb.JUDGE_FRAMEWORK_ULTRA


def judge_cases() -> list[Case]:
    """Lists all."""
    alone = {"twin lock": [TWIN], "judge lock": [LOCK], "ultra": [ULTRA], "two, turned round": [ULTRA, TWIN]}
    return [
        *cases(JUDGE, {name: _city(summary=summary) for name, summary in CITY_SUMMARIES.items()}),
        *cases(JUDGE, {name: _city(frameworks=frameworks) for name, frameworks in alone.items()}),
        *cases(JUDGE, {name: _city(source=source, summary=summary) for name, (source, summary) in FOREIGN.items()}),
        *cases(JUDGE, {**_real_texts(), **_options(), **_tool_scores()}),
        *cases(JUDGE, {f"refused, {name}": request for name, request in _refused().items()}),
        *cases(STREAM, {"city": _stream(_city()), "refused": _stream(_city(source=""))}),
        *cases(STREAM, {name: _stream(_city(frameworks=frameworks)) for name, frameworks in alone.items()}),
        *cases(JUDGE, _with_language_model(), server=SCRIPTED),
        *cases(STREAM, {"city": _stream(_city())}, server=SCRIPTED),
        Case("Judge/refused, no message", PLAIN, JUDGE, (b"\xff\xff\xff",)),
        *cases(JUDGE, {"without nli": _city()}, server=EMBEDDING_ONLY),
        *cases(STREAM, {"without nli": _stream(_city())}, server=EMBEDDING_ONLY),
        Case("JudgeBatch/many", PLAIN, BATCH, _items(), is_unordered=True),
    ]


def _city(**fields: Any) -> pb.JudgeRequest:  # noqa: ANN401
    return pb.JudgeRequest(**{"source": CITY, "summary": CITY_SUMMARY, **fields})


def _stream(request: pb.JudgeRequest) -> pb.JudgeStreamRequest:
    return pb.JudgeStreamRequest.FromString(request.SerializeToString())


def _items() -> tuple[bytes, ...]:
    items = {"a": _city(), "b, refused": _city(summary=" "), "c": _city(summary=CITY_FAITHFUL, frameworks=[TWIN])}
    messages = [pb.JudgeBatchRequest(id=name, request=request) for name, request in items.items()]
    return tuple(to_bytes(one) for one in (*messages, pb.JudgeBatchRequest(id="d, nothing")))


def _real_texts() -> dict[str, pb.JudgeRequest]:
    of_manual = GOLD["datum"]["summary"]["summary"]
    return {
        "city": _city(),
        "article, faithful": _city(source=ARTICLE, summary=FAITHFUL),
        "article, hallucinated": _city(source=ARTICLE, summary=HALLUCINATED),
        "article of its summary": _city(source=FAITHFUL, summary=ARTICLE),
        "manual": _city(source=MANUAL, summary=of_manual, frameworks=[TWIN]),
        "bulk": _city(source=f"{CITY} {FAITHFUL}", priority=PRIORITY_BULK),
    }


def _options() -> dict[str, pb.JudgeRequest]:
    options = {
        "jaccard": pb.JudgeOptions(relevance_mode=pb.RELEVANCE_MODE_JACCARD),
        "raw fusion": pb.JudgeOptions(fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW),
        "eta": pb.JudgeOptions(eta=7.5),
        "two claims": pb.JudgeOptions(max_claims=2),
        "more claims than there are": pb.JudgeOptions(max_claims=5_000),
        "no language model": pb.JudgeOptions(use_language_model=False),
    }
    return {f"option, {name}": _city(options=one) for name, one in options.items()}


def _score(value: float, tool: str = "own", metric: Any = HALLUCINATION, **fields: Any) -> pb.MetricToolScore:  # noqa: ANN401
    return pb.MetricToolScore(metric=metric, tool=tool, score=value, **fields)


def _tool_scores() -> dict[str, pb.JudgeRequest]:
    mapping = fusion_pb2.LogisticMapping(b1=4, b2=0.1, b3=50, b4=0.02, b5=1)
    mapped, raw = _score(62, mapping=mapping), pb.JudgeOptions(fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW, eta=0.5)
    both = [_score(2.5), _score(4.5, "other"), _score(1.0, metric=COVERAGE)]
    return {
        "tool scores": _city(tool_scores=both),
        "tool scores, mapped": _city(tool_scores=[mapped]),
        "tool scores, not a number": _city(tool_scores=[_score(math.nan), _score(3, "other")]),
        "tool scores, raw fusion": _city(tool_scores=both, options=raw),
    }


def _refused() -> dict[str, pb.JudgeRequest]:
    endless = fusion_pb2.LogisticMapping(b1=math.inf)
    return {
        "nothing": pb.JudgeRequest(),
        "source": _city(source=" \n"),
        "summary": _city(summary=""),
        "long summary": _city(summary="word " * 40_001),
        "framework": _city(frameworks=[0]),
        "framework unknown": _city(frameworks=[TWIN, UNKNOWN]),
        "framework twice": _city(frameworks=[TWIN, LOCK, TWIN]),
        "eta": _city(options=pb.JudgeOptions(eta=0)),
        "eta nan": _city(options=pb.JudgeOptions(eta=math.nan)),
        "relevance mode": _city(options=pb.JudgeOptions(relevance_mode=UNKNOWN)),
        "fusion form": _city(options=pb.JudgeOptions(fusion_form=UNKNOWN)),
        "no claim": _city(options=pb.JudgeOptions(max_claims=0)),
        "claims beyond the bound": _city(options=pb.JudgeOptions(max_claims=5_001)),
        "metric": _city(tool_scores=[_score(3, metric=0)]),
        "tool": _city(tool_scores=[_score(3, "")]),
        "tool twice": _city(tool_scores=[_score(3), _score(4)]),
        "score": _city(tool_scores=[_score(5.5)]),
        "mapping": _city(tool_scores=[_score(3, mapping=endless)]),
        "many scores": _city(tool_scores=[_score(3, f"t{number}") for number in range(101)]),
        "priority": _city(priority=UNKNOWN),
    }


def _with_language_model() -> dict[str, pb.JudgeRequest]:
    return {
        "city": _city(),
        "faithful": _city(summary=CITY_FAITHFUL),
        "unsure of the schema": _city(source=ARTICLE, summary=HALLUCINATED),
        "twin lock": _city(frameworks=[TWIN]),
        "ultra": _city(frameworks=[ULTRA]),
        "tool scores": _city(tool_scores=[_score(2.5), _score(4.5, "other")]),
        "raw fusion": _city(options=pb.JudgeOptions(fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW, eta=3)),
        "instructions": _city(summary=CITY_SUMMARIES["instructions"]),
        "no leave": _city(options=pb.JudgeOptions(use_language_model=False)),
        "german": _city(source=FOREIGN["german"][0], summary=FOREIGN["german"][1]),
        "refused": _city(summary=" "),
    }
