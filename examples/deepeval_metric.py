"""pip install deepeval."""

import os

import precis
from deepeval.test_case import LLMTestCase
from precis.integrations.deepeval import PrecisMetric

case = LLMTestCase(
    input="How long will the bridge be closed?",
    actual_output="The bridge will close for nine months. Repairs cost 42 million dollars.",
    retrieval_context=["The bridge will close for nine months. Repairs cost 4.2 million dollars."],
)
with precis.Client(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")) as client:
    metric = PrecisMetric(client, threshold=0.7)
    print(metric.measure(case), metric.is_successful(), metric.reason)
