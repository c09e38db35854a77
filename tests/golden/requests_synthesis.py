"""Golden requests of JudgeService: Synthesize and Assess."""

import math
from typing import Any

from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from tests.golden.case import EMBEDDING_ONLY, SCRIPTED, Case, cases
from tests.golden.texts import ARTICLE, CITY, CITY_SUMMARY, FAITHFUL
from tests.integration.assess.pictures import png

SYNTHESIZE = "precis.v1.JudgeService.Synthesize"
ASSESS = "precis.v1.JudgeService.Assess"
UNKNOWN: Any = 99  # proto3 lets unknown numbers through
SCORING, EXPLANATION = pb.SYNTHESIS_MODE_SCORING, pb.SYNTHESIS_MODE_EXPLANATION
LETTERS = ["Blurs", "Noise", "Nothing"]


def synthesis_cases() -> list[Case]:
    """Lists all."""
    of_model = {
        "scoring": _ask(),
        "with an image": _ask(images=[png()]),
        "choices": _ask(mode=EXPLANATION, choices=LETTERS, question="What is wrong with this image?"),
        "unusable": _ask(question="golden-unusable: how good is it?"),
        "no leave": _ask(options=pb.SynthesisOptions(use_language_model=False)),
        "context": _ask(context="The image shows a bridge.", question="golden-unusable: is it sharp?"),
    }
    return [
        *cases(SYNTHESIZE, _synthesize()),
        *cases(SYNTHESIZE, {f"refused, {name}": request for name, request in _refused_synthesize().items()}),
        *cases(SYNTHESIZE, of_model, server=SCRIPTED),
        *cases(ASSESS, _assess()),
        *cases(ASSESS, {f"refused, {name}": request for name, request in _refused_assess().items()}),
        *cases(ASSESS, {"text": _of_text(), "image": _of_image(), "no leave": _no_leave()}, server=SCRIPTED),
        *cases(ASSESS, {"without nli": _of_text(), "image": _of_image()}, server=EMBEDDING_ONLY),
    ]


def _score(value: float, tool: str = "iqa", **fields: Any) -> pb.QualityToolScore:  # noqa: ANN401
    return pb.QualityToolScore(tool=tool, score=value, **fields)


def _evidence(*scores: pb.QualityToolScore, severity: Any = 3, scope: str = "Global") -> pb.QualityEvidence:  # noqa: ANN401
    finding = pb.DistortionFinding(kind="Blurs", severity=severity, explanation="Edges appear soft.")
    return pb.QualityEvidence(
        distortion_analysis=[pb.ScopeAnalysis(scope=scope, findings=[finding])], tool_scores=scores
    )


def _ask(**fields: Any) -> pb.SynthesizeRequest:  # noqa: ANN401
    plain = {
        "question": "How good is this image?",
        "mode": SCORING,
        "evidence": _evidence(_score(2.6), _score(2.8, "b")),
    }
    return pb.SynthesizeRequest(**{**plain, **fields})


def _level(**logits: float) -> pb.LevelAnswer:
    return pb.LevelAnswer(logits=pb.LevelLogits(**logits))


def _synthesize() -> dict[str, pb.SynthesizeRequest]:
    car = pb.QualityScope(objects=pb.ScopeObjects(names=["car"]))
    mapped = _score(50, mapping=fusion_pb2.LogisticMapping(b4=0.04, b5=1))
    raw = pb.SynthesisOptions(fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW, eta=2)
    return {
        "tools": _ask(),
        "logits": _ask(level_answer=_level(bad=-2.5, poor=-2.5, fair=-0.3, good=-2.5, excellent=-2.5)),
        "one logit": _ask(evidence=_evidence(_score(5), _score(5, "b")), level_answer=_level(excellent=0.0)),
        "raw fusion": _ask(options=raw, level_answer=_level(good=0.4, excellent=0.1)),
        "level": _ask(level_answer=pb.LevelAnswer(level="Good")),
        "no tools": _ask(evidence=_evidence()),
        "no analysis": _ask(evidence=pb.QualityEvidence(tool_scores=[_score(3)])),
        "scope not covered": _ask(scope=car),
        "scope covered": _ask(scope=car, evidence=_evidence(_score(3, scope="car"), scope="car")),
        "contradiction, severe": _ask(evidence=_evidence(_score(4.5), severity=4)),
        "contradiction, none": _ask(evidence=_evidence(_score(1.5), severity=1)),
        "uncertain": _ask(evidence=_evidence(_score(3), severity=5)),
        "nothing": pb.SynthesizeRequest(question="How good?", mode=SCORING),
        "not a number": _ask(evidence=_evidence(_score(math.nan), _score(4, "b"))),
        "mapped": _ask(evidence=_evidence(mapped)),
        "choices": _ask(mode=EXPLANATION, choices=LETTERS, question="What is wrong with this image?"),
        "open answer": _ask(mode=EXPLANATION, question="Why is this image bad?"),
        "image": _ask(images=[png()]),
    }


def _refused_synthesize() -> dict[str, pb.SynthesizeRequest]:
    return {
        "question": _ask(question=" "),
        "long question": _ask(question="x" * 4_001),
        "mode": _ask(mode=0),
        "mode unknown": _ask(mode=UNKNOWN),
        "choices": _ask(choices=["a", "b"]),
        "one choice": _ask(mode=EXPLANATION, choices=["a"]),
        "choice twice": _ask(mode=EXPLANATION, choices=["a", "a"]),
        "scope": _ask(scope=pb.QualityScope(name="global")),
        "scope empty": _ask(scope=pb.QualityScope(objects=pb.ScopeObjects())),
        "level": _ask(level_answer=pb.LevelAnswer(level="F")),
        "level empty": _ask(level_answer=pb.LevelAnswer()),
        "logits": _ask(level_answer=_level(bad=math.nan)),
        "score": _ask(evidence=_evidence(_score(3), _score(5.5, "b"))),
        "tool": _ask(evidence=_evidence(_score(3, ""))),
        "severity": _ask(evidence=_evidence(severity=0)),
        "eta": _ask(options=pb.SynthesisOptions(eta=-1)),
        "image": _ask(images=[png(), b"GIF89a"]),
        "small image": _ask(images=[png(8, 8)]),
        "images": _ask(images=[png()] * 5),
        "context": _ask(context="x" * 20_001),
        "priority": _ask(priority=UNKNOWN),
    }


def _of_text(**fields: Any) -> pb.AssessRequest:  # noqa: ANN401
    return pb.AssessRequest(
        **{"question": "How good is this summary?", "source": CITY, "summary": CITY_SUMMARY, **fields}
    )


def _of_image(**fields: Any) -> pb.AssessRequest:  # noqa: ANN401
    return pb.AssessRequest(**{"question": "How good is this image?", "images": [png()], **fields})


def _no_leave() -> pb.AssessRequest:
    return _of_text(options=pb.SynthesisOptions(use_language_model=False))


def _assess() -> dict[str, pb.AssessRequest]:
    zebra = pb.QualityScope(objects=pb.ScopeObjects(names=["zebra crossing", "mayor"]))
    own = [_score(2.6, "a"), _score(2.8, "b")]
    return {
        "text": _of_text(),
        "article": _of_text(source=ARTICLE, summary=FAITHFUL),
        "facts": _of_text(question="Is every statement supported?"),
        "tone": _of_text(question="Is the summary fair and polite?", mode=SCORING),
        "choices": _of_text(question="What is wrong?", mode=EXPLANATION, choices=["Facts", "Tone", "Nothing"]),
        "objects": _of_text(scope=zebra),
        "objects, no replanning": _of_text(scope=zebra, options=pb.SynthesisOptions(max_replan_iterations=0)),
        "own tools only": pb.AssessRequest(question="How good is it?", tool_scores=own),
        "own tools besides": _of_text(tool_scores=own),
        "raw fusion": _of_text(options=pb.SynthesisOptions(fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW, eta=0.3)),
        "image": _of_image(),
        "image with reference": _of_image(reference=png(shade=250)),
        "image, question of noise": _of_image(question="Is this image noisy?"),
    }


def _refused_assess() -> dict[str, pb.AssessRequest]:
    return {
        "question": _of_text(question=""),
        "source": _of_text(source=""),
        "summary": _of_text(summary=" "),
        "nothing": pb.AssessRequest(question="How good?"),
        "mode": _of_text(mode=UNKNOWN),
        "scope": _of_text(scope=pb.QualityScope(name="everything")),
        "iterations": _of_text(options=pb.SynthesisOptions(max_replan_iterations=6)),
        "eta": _of_text(options=pb.SynthesisOptions(eta=math.nan)),
        "score": _of_text(tool_scores=[_score(6)]),
        "image": _of_image(images=[png()[:-9]]),
        "reference size": _of_image(reference=png(65, 64)),
        "reference alone": _of_text(reference=png()),
        "priority": _of_text(priority=UNKNOWN),
    }
