"""pip install mlflow. MLFLOW_TRACKING_URI says where the run is kept."""

import os

import mlflow
import precis
from precis.integrations.mlflow import precis_scorer

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."

with precis.Client(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")) as client:
    data = [{"inputs": {"source": SOURCE}, "outputs": SUMMARY}]
    result = mlflow.genai.evaluate(data=data, scorers=[precis_scorer(client)])
print(result.metrics["precis_hallucination/mean"])
