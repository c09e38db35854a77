"""Measures the documents as a reader meets them: words, the longest sentence, the longest table cell.

Run: python -m scripts.prose [FILE ...]. Without files it reads every document of the repository. Of source code it
reads docstrings and comments.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("*.md", ".github/*.md", *(f"{top}/**/*.md" for top in ("deploy", "docs", "examples", "inference")))
PLACES += tuple(f"{top}/**/*.md" for top in ("pipeline", "protos", "scripts", "server"))
SKIPPED_FOLDERS = {"build", "node_modules", "data"}  # data: texts that tests and benchmarks summarize
STOPS, CLOSERS = ".!?", "\"')]*_\N{RIGHT DOUBLE QUOTATION MARK}"
COMMENT = re.compile(r"(?:^ *(?:#|//) .*\n)+", re.MULTILINE)
COMMENT_MARK = re.compile(r"^ *(?:#|//) ", re.MULTILINE)
# what a reader takes for an item: an entry of Args, Attributes or Raises, the whole of Returns, an error in its tree
ENTRY = re.compile(r"^ {4}(?=\w+: )|(?<=\nReturns:\n) {4}|^(?=[├└])", re.MULTILINE)


@dataclass(frozen=True)
class Prose:
    """What a reader meets in one document.

    Attributes:
        words: of the whole file, code and tables included.
        sentence: the longest sentence, of paragraphs, list items and cells; a code span counts as one word.
        cell: the longest table cell as it is shown, without the targets of links.
    """

    words: int
    sentence: str
    cell: str

    @property
    def sentence_words(self) -> int:
        """Words of the longest sentence."""
        return len(self.sentence.split())


def documents() -> list[Path]:
    """Returns every Markdown document of the repository."""
    found = {path for place in PLACES for path in ROOT.glob(place)}
    return sorted(path for path in found if not SKIPPED_FOLDERS & set(path.relative_to(ROOT).parts))


def read_texts(path: Path) -> list[str]:
    """Returns a document, or each docstring and comment of a module or a .proto file, as Markdown."""
    text = path.read_text(encoding="utf-8")
    if path.suffix not in {".py", ".proto"}:
        return [text]
    texts = [COMMENT_MARK.sub("", comment) for comment in COMMENT.findall(text)]
    if path.suffix == ".py":
        values = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
        constants = (cleandoc(str(value.value)) for value in values if isinstance(value, ast.Constant))
        texts += [ENTRY.sub("- ", docstring) for docstring in constants]
    return texts


def measure(text: str) -> Prose:
    """Measures one document."""
    sentences, cells = [""], [""]
    for block, is_cell in _blocks(text):
        sentences += split_sentences(block)
        if is_cell:
            cells.append(block)
    return Prose(len(text.split()), max(sentences, key=lambda one: len(one.split())), max(cells, key=len))


def split_sentences(text: str) -> list[str]:
    """Cuts a paragraph behind a word that ends with a full stop, a question mark or an exclamation mark."""
    sentences: list[list[str]] = [[]]
    for word in text.split():
        sentences[-1].append(word)
        if word.rstrip(CLOSERS)[-1:] in STOPS:
            sentences.append([])
    return [" ".join(words) for words in sentences if words]


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the text of every paragraph, heading, list item and table cell, and whether it is a cell."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for before, token in pairwise(tokens):
        if token.type == "inline":
            yield "".join(map(_shown, token.children or [])), before.type in {"td_open", "th_open"}


def _shown(token: Token) -> str:
    if token.type == "code_inline":
        return token.content.replace(" ", "_").rstrip(STOPS) or "code"
    return " " if token.type in {"softbreak", "hardbreak"} else token.content


def main(names: list[str]) -> None:
    """Prints one line a document: words, words of the longest sentence, characters of the longest cell."""
    print("words sentence cell  document")
    for path in [Path(name).resolve() for name in names] or documents():
        prose = measure("\n\n".join(read_texts(path)))
        print(f"{prose.words:5} {prose.sentence_words:8} {len(prose.cell):4}  {path.relative_to(ROOT)}")
        if names:
            print(f"  sentence: {prose.sentence}\n  cell: {prose.cell}")


if __name__ == "__main__":
    main(sys.argv[1:])
