"""pip install llama-index-core."""

import os

import precis
from precis.integrations.llama_index import PrecisEmbedding, PrecisEvaluator

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."

with precis.Client(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")) as client:
    print(len(PrecisEmbedding(client).get_text_embedding("a bridge")), "numbers")
    result = PrecisEvaluator(client).evaluate(response=SUMMARY, contexts=[SOURCE])
    print(result.score, result.passing, result.feedback)
