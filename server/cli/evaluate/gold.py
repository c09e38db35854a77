"""Proposes a golden reference for a document, which a person corrects and `precis evaluate` reads.

Composed of the server's calls: a summary, a judgement of it against the document, and embeddings of its claims.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from precis.v1 import evaluate_pb2 as pb
from precis.v1 import evidence_pb2, judge_pb2
from precis.v1 import summarize_pb2 as summaries

from pipeline.compression import get_target_summary_length
from pipeline.evaluate.datum import MAX_KEY_FACTS, MIN_KEY_FACTS
from pipeline.evaluate.proposal import CheckedClaim, WrittenText, fact_candidates, propose_reference
from server.cli.connection import CommandClient
from server.cli.console import output_console, print_note, shown, to_json_document, to_list, write
from server.cli.documents.read import document_name, read_document_text
from server.cli.errors import CliError, InputError
from server.cli.evaluate.table import QUOTE_LIMIT
from server.cli.files import not_empty, result_file, to_json_fields
from server.cli.judge.names import is_supported
from server.cli.options import Connection
from server.cli.summarize.run import follow, open_summaries

WISHES = "Write short sentences. Each states one fact and names its subject instead of using a pronoun."
"""What a language model is asked for beside a summary, so that its sentences can be facts."""


async def propose_gold(path: Path, output: Path | None, connection: Connection, timeout_s: float) -> None:
    """Reads a document, proposes, writes. Raises CliError."""
    entry = pb.GoldStandardEntry(source_id=document_name(path), text=not_empty(read_document_text(path), path))
    with result_file(output) as file:
        async with open_summaries(connection, timeout_s) as client:
            summary = await write_source(entry, client)
            reference, refused = await check(entry, summary, client)
        datum = pb.GoldStandardDatum(entry=entry, summary=reference)
        write(to_json_document({"datum": to_json_fields(datum)}), file)
    print_proposal(reference, refused, output)


async def write_source(entry: pb.GoldStandardEntry, client: CommandClient) -> summaries.Summary:
    """Has the document summarized at length, so that there is something to choose from."""
    document = summaries.Document(document_id=entry.source_id, name=entry.source_id, text=entry.text)
    options = summaries.SummarizeOptions(
        detail=summaries.SUMMARY_DETAIL_FULL, form=summaries.SUMMARY_FORM_PROSE, max_iterations=1
    )
    plan = await client.plan_summary(document, options=options)
    if plan.writer_kind == summaries.WRITER_KIND_LANGUAGE_MODEL:
        options.instructions = WISHES
    summary = await follow(client.summarize(document, options=options), client)
    if summary.status != summaries.SUMMARY_STATUS_DONE:
        raise CliError(f"the summary is partial: {summary.failure.message}")
    return summary


async def check(
    entry: pb.GoldStandardEntry, summary: summaries.Summary, client: CommandClient
) -> tuple[pb.GoldStandardSummary, list[evidence_pb2.Claim]]:
    """Makes a reference of the claims of a summary that its document supports. Raises CliError.

    Returns:
        The reference, and the other claims, which are left out.
    """
    options = judge_pb2.JudgeOptions(use_language_model=False)
    judged = await client.judge(entry.text, summary.text, frameworks=["twin-lock"], view="full", options=options)
    evidence = judged.message.evidence
    checked = [
        CheckedClaim(
            text=claim.passage.text,
            start=claim.passage.start,
            end=claim.passage.end,
            token_count=claim.token_count,
            is_supported=is_supported(claim),
        )
        for claim in evidence.claims
    ]
    candidates = fact_candidates(checked, entry.text)
    if not candidates:
        raise InputError("nothing to propose: the document has no English sentence that stands alone")
    found = await client.embed([claim.text for claim in candidates])
    vectors = np.array([embedding.values for embedding in found], dtype=np.float64)
    entry.token_count = min(summary.input_tokens, np.iinfo(np.int32).max)
    target = get_target_summary_length(entry.token_count)
    reference = propose_reference(
        WrittenText(summary.text, entry.text, evidence.theme.text), candidates, vectors, target
    )
    refused = [claim for claim in evidence.claims if not is_supported(claim)]
    return pb.GoldStandardSummary(**reference.model_dump()), refused


def print_proposal(
    reference: pb.GoldStandardSummary, refused: Sequence[evidence_pb2.Claim], output: Path | None
) -> None:
    """Says what is proposed and what was left out; the former not beside JSON on stdout."""
    if output is not None:
        lists = (("fact", reference.key_facts), ("point", reference.logical_outline), ("entity", reference.entity_list))
        named = [(kind, text) for kind, texts in (("theme", [reference.main_theme]), *lists) for text in texts]
        output_console().print(to_list((kind, shown(text, limit=QUOTE_LIMIT)) for kind, text in named))
    for claim in refused:
        closest = f"; closest: {claim.support.text}" if claim.HasField("support") else ""
        print_note(f"left out, not supported ({claim.probability:.2f}): {claim.passage.text}{closest}")
    if not reference.key_facts:
        wanted = f"{MIN_KEY_FACTS} to {MAX_KEY_FACTS}"
        print_note(f"No key facts: the document has too few that stand alone. Add {wanted}, or leave the list empty.")
    if output is not None:
        print_note(f"A proposal, not a reference: correct {output}, then: precis evaluate {output} -s SUMMARY.txt")
