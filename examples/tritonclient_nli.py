"""pip install tritonclient[grpc]. Of Precis it needs the address alone."""

import os

import numpy as np
import tritonclient.grpc as triton


def texts(name: str, *values: str) -> triton.InferInput:
    array = np.array([[value.encode()] for value in values], dtype=np.object_)
    tensor = triton.InferInput(name, list(array.shape), "BYTES")
    tensor.set_data_from_numpy(array)
    return tensor


client = triton.InferenceServerClient(os.environ.get("PRECIS_ADDRESS", "127.0.0.1:50051"))
result = client.infer("nli", [texts("premise", "The bridge is closed."), texts("hypothesis", "Nobody can cross it.")])
print(dict(zip(("entailment", "neutral", "contradiction"), result.as_numpy("probabilities")[0].tolist(), strict=True)))
