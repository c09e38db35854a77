"""What makes two requests the same: everything that a judgement depends on."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.provenance import EvidenceModels
from pipeline.judge.request import JudgeRequest


def hash_request(request: JudgeRequest, config: JudgeConfig, models: EvidenceModels, chat_model: str | None) -> str:
    """Returns the SHA-256 of request, settings and models, as 64 hexadecimal digits.

    Limits and the cache's size are left out: they change no answer.

    Args:
        chat_model: identity of the model that takes part; None without one.
    """
    parts: dict[str, Any] = {
        "source": request.source,
        "summary": request.summary,
        "frameworks": request.wanted,
        "tool_scores": [asdict(score) for score in request.tool_scores],
        "config": config.model_dump(mode="json", exclude={"limits", "cache"}),
        "models": asdict(models),
        "chat_model": chat_model,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
