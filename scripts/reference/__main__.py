"""Writes the pages of docs that are made of what they describe: contract, metrics, resources, rules, settings.

Run: python -m scripts.reference
"""

from collections.abc import Mapping
from pathlib import Path

from scripts.reference.contract import contract_pages
from scripts.reference.metrics import metrics_page
from scripts.reference.resources import resources_page
from scripts.reference.rules import rule_pages
from scripts.reference.settings import settings_page

FOLDER = Path(__file__).resolve().parents[2] / "docs"


def generated_pages() -> Mapping[str, str]:
    """Returns the text of each generated page by its name below docs."""
    reference = {**contract_pages(), "metrics.md": metrics_page(), "resources.md": resources_page()}
    pages = {f"reference/{name}": text for name, text in reference.items()}
    return {**pages, **rule_pages(), "settings.md": settings_page()}


def main() -> None:
    """Writes the pages."""
    for name, text in generated_pages().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
