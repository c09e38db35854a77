"""pip install arize-phoenix-evals."""

import os

import pandas as pd
import precis
from phoenix.evals import evaluate_dataframe
from precis.integrations.phoenix import PrecisEvaluator

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."

with precis.Client(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")) as client:
    table = pd.DataFrame({"context": [SOURCE], "output": [SUMMARY]})
    scored = evaluate_dataframe(table, [PrecisEvaluator(client)], hide_tqdm_bar=True)
print(scored["precis_hallucination_score"][0]["score"])
