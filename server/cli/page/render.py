"""Renders templates as pages that need nothing else: no network, no other file, no script for reading.

Texts are data: every value goes through Jinja2's escaping. A content security policy names the hashes of the one style
sheet and the one script: nothing else could run even if it got in.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from server.cli.judge import names
from server.cli.page import marks


def render_page(template: str, *, script_file: str = "", **values: object) -> str:
    """Renders a template that extends the layout.

    Args:
        template: its file.
        script_file: the one script that may run; empty for none.
        values: what it shows.
    """
    templates = environment()
    files = {"style": "style.css", "script": script_file}
    parts = {name: templates.get_template(file).render() if file else "" for name, file in files.items()}
    return templates.get_template(template).render(
        **values,
        **{name: Markup(content) for name, content in parts.items()},  # noqa: S704 - our own files
        **{f"{name}_hash": content_hash(content) for name, content in parts.items()},
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
    )
    templates.globals.update(names=names, marks=marks)
    return templates
