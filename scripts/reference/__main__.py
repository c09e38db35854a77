"""Writes docs/reference from what it describes: the comments of the contract, the registry of the metrics.

Run: python -m scripts.reference
"""

from collections.abc import Mapping
from pathlib import Path

from scripts.reference.contract import contract_pages
from scripts.reference.metrics import metrics_page

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


def generated_pages() -> Mapping[str, str]:
    """Returns the text of each generated page by its name below docs/reference."""
    return {**contract_pages(), "metrics.md": metrics_page()}


def main() -> None:
    """Writes the pages."""
    for name, text in generated_pages().items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
