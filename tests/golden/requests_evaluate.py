"""Golden requests of EvaluateService."""

from typing import Any

from google.protobuf import json_format
from precis.v1 import evaluate_pb2 as pb
from precis.v1.common_pb2 import PRIORITY_BULK

from tests.golden.case import EMBEDDING_ONLY, PLAIN, Case, cases, to_bytes
from tests.golden.texts import GOLD, MANUAL, QUICKSTART

EVALUATE = "precis.v1.EvaluateService.Evaluate"
LISTS = ("key_facts", "logical_outline", "entity_list")
STREAM = "precis.v1.EvaluateService.EvaluateStream"
UNKNOWN: Any = 99  # proto3 lets unknown numbers through
DATUM = json_format.ParseDict(QUICKSTART["datum"], pb.GoldStandardDatum())
CANDIDATES: dict[str, str] = {one["name"]: one["text"] for one in QUICKSTART["candidates"]}
SHORT = "Harlow Falls replaced 9,300 lead lines by June 2023. The program had spent 76 million dollars."


def evaluate_cases() -> list[Case]:
    """Lists all."""
    return [
        *cases(EVALUATE, _candidates()),
        *cases(EVALUATE, {"manual": _manual()}),
        *cases(EVALUATE, {f"hard fail, {name}": request for name, request in _hard_fails().items()}),
        *cases(EVALUATE, {f"no hard fail, {name}": request for name, request in _no_hard_fails().items()}),
        *cases(EVALUATE, {f"option, {name}": request for name, request in _options().items()}),
        *cases(EVALUATE, {f"without {name}": _without(name) for name in LISTS}),
        *cases(EVALUATE, {f"refused, {name}": request for name, request in _refused().items()}),
        *cases(EVALUATE, {"without nli": _request(SHORT)}, server=EMBEDDING_ONLY),
        Case("EvaluateStream/many", PLAIN, STREAM, _items(), is_unordered=True),
        Case("EvaluateStream/none", PLAIN, STREAM, ()),
    ]


def _request(text: str, *, finish_reason: str = "stop", is_json: bool = False, **options: Any) -> pb.EvaluateRequest:  # noqa: ANN401
    generated = pb.GeneratedSummary(text=text, finish_reason=finish_reason, structured_output_requested=is_json)
    return pb.EvaluateRequest(datum=DATUM, generated=generated, options=pb.EvaluateOptions(**options))


def _candidates() -> dict[str, pb.EvaluateRequest]:
    good, mediocre, bad = [CANDIDATES[name] for name in ("good", "mediocre", "bad")]
    return {
        "good": _request(good),
        "good, first parts": _request(good.rpartition("\n\n")[0].rpartition("\n\n")[0]),
        "mediocre": _request(mediocre),
        "bad": _request(bad),
        "mediocre, first part": _request(mediocre.split("\n\n")[0]),
        "bad, first part": _request(bad.split("\n\n")[0]),
    }


def _manual() -> pb.EvaluateRequest:
    datum = json_format.ParseDict(GOLD["datum"], pb.GoldStandardDatum())
    options = json_format.ParseDict(GOLD["options"], pb.EvaluateOptions())
    generated = pb.GeneratedSummary(text=MANUAL[:1_800].rpartition(".")[0] + ".", finish_reason="stop")
    return pb.EvaluateRequest(datum=datum, generated=generated, options=options)


def _hard_fails() -> dict[str, pb.EvaluateRequest]:
    plain = {
        "this summary": f"This summary covers the lead lines. {SHORT}",
        "the document": f"{SHORT} The document also states that 4,900 lines remain.",
        "in this article": f"In this article, the city replaces its lines. {SHORT}",
        "here is": f"Here is a concise summary of the text: {SHORT}",
        "language model": f"As an AI language model I read it. {SHORT}",
        "label": f"**Summary:** This report describes the lead lines. {SHORT}",
        "empty": "",
        "blank": " \n\t",
        "no words": "... — !",
        "mid sentence": f"{SHORT} About 4,900 lead lines remain, and the",
        "mid word": f"{SHORT} Residents are wor",
        "mid list": f"{SHORT}\n\n- About 4,900 lines remain.\n- The city must",
        "mid table": f"{SHORT}\n\n| year | lines |\n|---|---|\n| 2018 | 700",
        "open label list": f"{SHORT}\n\n## Key topics\n\n- Lead service lines\n- Costs of the\n",
        "prose above labels": f"{SHORT} The city has\n\n## Key topics\n\n- Lead lines\n- Costs\n- Risks",
        "before a footnote": f"{SHORT} The city will[1]\n\n[1]: https://example.org/report",
        "heading": f"{SHORT}\n\n## Remaining risks",
        "long line": f"{SHORT} {'And so the work goes on and on, ' * 10}until",
    }
    as_json = {
        "not json": SHORT,
        "broken json": f'{{"summary": "{SHORT}"',
        "json fence": f'```json\n{{"summary": "{SHORT}"}}\n```',
        "json nan": f'{{"summary": "{SHORT}", "score": NaN}}',
        "json deep": '{"a":' * 30_000,
        "json without text": '{"summary": "", "count": 3}',
        "json mid sentence": f'{{"summary": "{SHORT} About 4,900 lines", "topics": ["lead"]}}',
        "json mid prose": f'{{"parts": [{{"body": "{SHORT} {SHORT} The auditor makes four recommendations, and"}}]}}',
        "json meta": f'{{"summary": "The document describes lead lines. {SHORT}"}}',
        "json escapes": '{"summary": "Caf\\u00e9 \\ud83d\\ude00 \\"quoted\\" text that sto"}',
    }
    return {
        **{name: _request(text) for name, text in plain.items()},
        **{name: _request(text, is_json=True) for name, text in as_json.items()},
        **{name: _request(SHORT, finish_reason=name) for name in ("length", "MAX_TOKENS", "model_length")},
    }


def _no_hard_fails() -> dict[str, pb.EvaluateRequest]:
    text = CANDIDATES["good"].split("\n\n")[0]
    topics = "\n\n## Key topics\n\n- Lead service lines\n- Safe Connections Ordinance\n- PipeSight"
    return {
        "label list": _request(text + topics),
        "open list": _request(f"{text}\n\n- 9,300 lines replaced\n- 4,900 lines remain", lists_may_end_open=True),
        "closers": _request(f"{text} The mayor said it is “**done**.”[1][^note] \U0001f600\n\n[^note]: a note"),
        "quoted document": _request(f'"The document states nothing", said the auditor. {text}'),
        "json": _request(f'{{"topics": ["lead"], "summary": "{text}"}}', is_json=True),
        "json strings": _request(f'{{"a": ["{text}"], "b": {{"c": "9,300 lines \\u2013 replaced."}}}}', is_json=True),
    }


def _options() -> dict[str, pb.EvaluateRequest]:
    text = CANDIDATES["mediocre"].split("\n\n")[2]
    one_weight = pb.EvaluateWeights(facts=0.5, flow=0.25, length=0.25)
    return {
        "weights": _request(text, weights=one_weight),
        "hit threshold": _request(text, hit_threshold=0.9),
        "source": _request(text, precision_source=pb.PRECISION_SOURCE_SOURCE_TEXT),
        "entities": _request(
            text, entity_fuzzy_threshold=0.6, entity_context_threshold=-1, entity_context_tokens=3, entity_max_matches=1
        ),
        "mentions": _request(text, entity_max_mentions=1, entity_context_threshold=0.9),
        "small chunks": _request(text, chunk_tokens=16, max_sentence_chars=60),
        "bulk": pb.EvaluateRequest(datum=DATUM, generated=pb.GeneratedSummary(text=text), priority=PRIORITY_BULK),
    }


def _without(name: str) -> pb.EvaluateRequest:
    request = _request(SHORT)
    request.datum.summary.ClearField(name)  # type: ignore[arg-type]  # a name that varies
    return request


def _refused() -> dict[str, pb.EvaluateRequest]:
    empty = _request(SHORT)
    empty.datum.entry.text = ""
    counted = _request(SHORT)
    counted.datum.entry.token_count = -1
    blank = _request(SHORT)
    blank.datum.summary.key_facts[3] = " "
    goldless = _request(SHORT)
    goldless.datum.ClearField("summary")
    return {
        "nothing": pb.EvaluateRequest(),
        "datum": pb.EvaluateRequest(generated=pb.GeneratedSummary(text=SHORT)),
        "generated": pb.EvaluateRequest(datum=DATUM),
        "text": empty,
        "token count": counted,
        "key fact": blank,
        "gold": goldless,
        "weights": _request(SHORT, weights=pb.EvaluateWeights(facts=0.5)),
        "weight": _request(SHORT, weights=pb.EvaluateWeights(facts=1.5, flow=-0.5)),
        "hit threshold": _request(SHORT, hit_threshold=0),
        "precision source": _request(SHORT, precision_source=UNKNOWN),
        "fuzzy threshold": _request(SHORT, entity_fuzzy_threshold=1),
        "context tokens": _request(SHORT, entity_context_tokens=101),
        "chunk tokens": _request(SHORT, chunk_tokens=7),
        "sentence chars": _request(SHORT, max_sentence_chars=49),
        "priority": pb.EvaluateRequest(datum=DATUM, generated=pb.GeneratedSummary(text=SHORT), priority=UNKNOWN),
    }


def _items() -> tuple[bytes, ...]:
    items = {
        "a, good": _request(SHORT),
        "b, hard fail": _request("cut off in the"),
        "c, refused": _request(SHORT, hit_threshold=2),
        "d, mediocre": _request(CANDIDATES["mediocre"].split("\n\n")[0]),
        "e" * 257: _request(SHORT),
    }
    messages = [pb.EvaluateStreamRequest(id=name, request=request) for name, request in items.items()]
    return tuple(to_bytes(one) for one in (*messages, pb.EvaluateStreamRequest(id="f, nothing")))
