"""Evaluate requests as domain types. What a caller gets wrong becomes an InvalidInputError with the field's path."""

from dataclasses import dataclass
from typing import Any

from precis.v1 import evaluate_pb2 as pb

from pipeline.errors import InvalidInputError, parse
from pipeline.evaluate.config import EvaluateConfig, EvaluateWeights, NliMode, PrecisionSource
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum
from server.rpc.fields import EnumCodec, ResultView, parse_view, set_fields

NLI_MODES = EnumCodec(NliMode, pb.NliMode.DESCRIPTOR)
PRECISION_SOURCES = EnumCodec(PrecisionSource, pb.PrecisionSource.DESCRIPTOR)


@dataclass(frozen=True, slots=True)
class EvaluateInput:
    """One checked request: what to evaluate, how, and how much of it to answer."""

    datum: GoldStandardDatum
    generated: GeneratedSummary
    config: EvaluateConfig
    view: ResultView

    @property
    def char_count(self) -> int:
        """Characters of the three long texts: how much CPU work there is."""
        return len(self.datum.entry.text) + len(self.datum.summary.summary) + len(self.generated.text)


def parse_evaluate(request: pb.EvaluateRequest, defaults: EvaluateConfig) -> EvaluateInput:
    """Checks a request and fills in the server's defaults.

    Raises:
        InvalidInputError: the first field that breaks its rule. Sizes of texts are left to the evaluator.
    """
    config, view = defaults.with_overrides(parse_overrides(request.options)), parse_view(request.view)
    for name in ("datum", "generated"):
        if not request.HasField(name):
            raise InvalidInputError(name, "a value", "nothing")
    datum = parse(GoldStandardDatum, datum_fields(request.datum), "datum")
    generated = GeneratedSummary(
        text=request.generated.text,
        finish_reason=request.generated.finish_reason,
        structured_output=request.generated.structured_output_requested,
    )
    return EvaluateInput(datum, generated, config, view)


def datum_fields(datum: pb.GoldStandardDatum) -> dict[str, Any]:
    """Turns a datum into plain data. A message that is not set is left out, so that it is reported as missing."""
    fields: dict[str, Any] = {}
    if datum.HasField("entry"):
        entry = datum.entry
        fields["entry"] = {name: getattr(entry, name) for name in ("category", "source_id", "text", "token_count")}
    if datum.HasField("summary"):
        summary = datum.summary
        fields["summary"] = {
            "main_theme": summary.main_theme,
            "summary": summary.summary,
            **{name: tuple(getattr(summary, name)) for name in ("key_facts", "logical_outline", "entity_list")},
        }
    return fields


def parse_overrides(options: pb.EvaluateOptions) -> dict[str, Any]:
    """Lists the options that the caller set, as fields of EvaluateConfig. Raises InvalidInputError."""
    overrides = set_fields(options)
    if "weights" in overrides:
        overrides["weights"] = {field: getattr(options.weights, field) for field in EvaluateWeights.model_fields}
    if "window_sentences" in overrides:
        overrides["window_sentences"] = tuple(options.window_sentences)
    for name, codec in (("nli_mode", NLI_MODES), ("precision_source", PRECISION_SOURCES)):
        if name in overrides:
            overrides[name] = codec.parse(overrides[name], f"options.{name}")
    return overrides
