"""Renders judgements as one page that needs nothing else: no network, no other file, no script for reading.

Texts are data: every value goes through Jinja2's escaping, and a content security policy names the hashes of the one
style sheet and the one script, so that nothing else could run even if it got in.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from precis.v1 import judge_pb2 as pb

from server.cli.judge_floors import Floor
from server.cli.judge_items import Item
from server.cli.judge_report.index import Index
from server.cli.judge_report.item import ReportItem, to_report_item

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """A judged item."""

    item: Item
    result: pb.JudgeResult


def render_report(items: Sequence[ReportedItem], floors: Sequence[Floor], index: Index | None = None) -> str:
    """Renders a page.

    Args:
        items: shown whole, in this order.
        floors: of --fail-under.
        index: the overview of a bulk run; None for a single judgement.
    """
    shown = [
        to_report_item(f"item-{number}", reported.item, reported.result, floors)
        for number, reported in enumerate(items, start=1)
    ]
    return render(shown, index)


def render(items: Sequence[ReportItem], index: Index | None) -> str:
    """Fills the templates."""
    templates = environment()
    most_claims = max((len(item.claims) for item in items), default=0)
    style = templates.get_template("style.css").render(claims=range(1, most_claims + 1))
    script = templates.get_template("script.js").render()
    return templates.get_template("page.html").render(
        title=f"Judgement of {items[0].id}" if index is None else f"Judgements of {index.item_count} summaries",
        items=items,
        index=index,
        style=Markup(style),  # noqa: S704 - our own file and numbers
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=content_hash(style),
        script_hash=content_hash(script),
    )


def content_hash(content: str) -> str:
    """Names a style sheet or script in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


@cache
def environment() -> Environment:
    """Builds the templates' environment: everything is escaped, and a misspelt name is an error."""
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
