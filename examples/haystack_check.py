"""pip install haystack-ai."""

import os

from haystack import Document, Pipeline
from precis.integrations.haystack import PrecisFaithfulness

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."

pipeline = Pipeline()
pipeline.add_component("check", PrecisFaithfulness(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")))
found = pipeline.run({"check": {"documents": [Document(content=SOURCE)], "replies": [SUMMARY]}})["check"]
print(found["scores"][0], found["unsupported"][0])
