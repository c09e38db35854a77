"""Renders templates as pages that need nothing else: no network, no other file, no script for reading.

Texts are data: every value goes through Jinja2's escaping, and a content security policy names the hashes of the one
style sheet and the one script, so that nothing else could run even if it got in.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from server.cli.judge import names
from server.cli.judge.report import marks
from server.cli.judge.report.overview import claim_histogram
from server.cli.judge.verdict import left_out, verdict_of
from server.cli.spread import describe, spread_fields

WHOLE_ITEMS = 500  # a page with thousands of articles opens in no browser


def render_page(template: str, *, script_file: str = "script.js", **values: object) -> str:
    """Renders a template that extends the layout; no script but `script_file` may run."""
    templates = environment()
    style = templates.get_template("style.css").render()
    script = templates.get_template(script_file).render()
    return templates.get_template(template).render(
        **values,
        style=Markup(style),  # noqa: S704 - our own file
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
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    templates.globals.update(names=names, marks=marks, describe=describe, verdict_of=verdict_of, left_out=left_out)
    templates.globals.update(claim_histogram=claim_histogram, spread_fields=spread_fields)
    return templates
