"""pip install langchain-core."""

import os

import precis
from langchain_core.runnables import RunnableLambda
from precis.integrations.langchain import PrecisEmbeddings, UnfaithfulError, faithfulness_check

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."

with precis.Client(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")) as client:
    print(len(PrecisEmbeddings(client).embed_query("a bridge")), "numbers")
    summarize = RunnableLambda(lambda source: {"source": source, "summary": "Repairs cost 42 million dollars."})
    chain = summarize | faithfulness_check(client, minimum=7)
    try:
        print("passed with", chain.invoke(SOURCE)["judgement"].hallucination)
    except UnfaithfulError as error:
        print("stopped:", error)
