"""Evidence as the JSON that prompts carry."""

import json

from pipeline.judge.synthesis.evidence import Evidence, EvidenceItem, Finding


def evidence_json(evidence: Evidence, *, explanation_chars: int | None = None) -> str:
    """Returns findings and scores with their ids, grouped by part of the scope as in seed 004.

    Args:
        evidence: with scores in [1, 5].
        explanation_chars: a longer explanation is cut there; None keeps all.
    """
    analysis: dict[str, list[dict[str, object]]] = {}
    scores: dict[str, list[dict[str, object]]] = {}
    for item in evidence.items():
        target = analysis if isinstance(item.content, Finding) else scores
        target.setdefault(item.scope, []).append(_entry(item, explanation_chars))
    value = {"distortion_analysis": analysis, "quality_scores": scores}
    return json.dumps(value, ensure_ascii=False, indent=1)


def _entry(item: EvidenceItem, explanation_chars: int | None) -> dict[str, object]:
    content = item.content
    if not isinstance(content, Finding):
        about = {"aspect": content.aspect} if content.aspect else {}
        return {"id": item.id, "tool": content.tool, **about, "score": round(content.score, 4)}
    entry: dict[str, object] = {"id": item.id, "type": content.kind, "severity": content.severity.value}
    if explanation := content.explanation[:explanation_chars]:
        entry["explanation"] = explanation
    return entry
