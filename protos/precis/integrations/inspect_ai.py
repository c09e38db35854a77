"""Inspect: a scorer that judges a completion against its source, without a language model."""

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from precis.async_client import AsyncClient
from precis.connection import DEFAULT_ADDRESS


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]  # the package is not there where types are checked
def precis_faithfulness(address: str = DEFAULT_ADDRESS) -> Scorer:
    """Scores from 0 to 1. The source is `source` of the sample's metadata, or else its input."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - Inspect's call
        source = str(state.metadata.get("source") or state.input_text)
        async with AsyncClient(address) as client:
            judgement = await client.judge(source, state.output.completion)
        claims = [claim.text for claim in judgement.unsupported]
        explanation = judgement.explain("hallucination")
        return Score(value=judgement.hallucination / 10, explanation=explanation, metadata={"unsupported": claims})

    return score
