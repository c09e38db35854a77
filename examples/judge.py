"""Needs the client alone: pip install ./protos."""

import os

import precis

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."

with precis.Client(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")) as client:
    judgement = client.judge(SOURCE, SUMMARY)
    print("hallucination", judgement.hallucination)
    for claim in judgement.unsupported:
        print("not in the source:", claim.text)
