"""pip install inspect-ai. The model here is Inspect's mock; name yours in its place."""

import os

from inspect_ai import Task, eval  # noqa: A004 - Inspect's name
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from precis.integrations.inspect_ai import precis_faithfulness

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."
SUMMARY = "The bridge will close for nine months. Repairs cost 42 million dollars."

task = Task(
    dataset=[Sample(input=f"Summarize: {SOURCE}", metadata={"source": SOURCE})],
    scorer=precis_faithfulness(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051")),
)
answer = ModelOutput.from_content("mockllm/model", SUMMARY)
answer.usage = ModelUsage()  # the mock would fetch a tokenizer to count tokens
[log] = eval(task, model=get_model("mockllm/model", custom_outputs=[answer]), display="none")
print(log.results.scores[0].metrics["mean"].value)
