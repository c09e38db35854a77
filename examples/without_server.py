"""pip install . ./protos, and `precis models install`; PRECIS_MODELS_DIR names the folder if it is not ./models."""

from precis.local import Client

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."

with Client() as client:
    print("hallucination", client.judge(SOURCE, SUMMARY).hallucination)
