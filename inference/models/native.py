"""The native libraries, imported after what they read from the environment is set.

The rest of the package takes them from here.
"""

from __future__ import annotations

import os

# ONNX Runtime >= 1.31 otherwise queues events (process, model, hardware, a device id) in a database under
# ~/.cache/Microsoft/DeveloperTools, and a thread of its own uploads them. `disable_telemetry_events()` comes
# too late: the database is opened on import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# The tokenizer would otherwise start one thread a core, beside workers that already use every core.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import onnxruntime as ort
from tokenizers import Tokenizer

__all__ = ["Tokenizer", "ort"]
