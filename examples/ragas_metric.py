"""pip install ragas."""

import os

import precis
from precis.integrations.ragas import PrecisScore
from ragas.dataset_schema import SingleTurnSample

sample = SingleTurnSample(
    response="The bridge will close for nine months. Repairs cost 42 million dollars.",
    retrieved_contexts=["The bridge will close for nine months. Repairs cost 4.2 million dollars."],
)
with precis.Client(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")) as client:
    print(PrecisScore(client=client).single_turn_score(sample))
