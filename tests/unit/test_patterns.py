"""No pattern takes time that grows like the square of a hostile text: such a run holds the GIL and cannot be cancelled.

Each compiled pattern of a module is run as the code runs it, over units of text repeated: some that have been hostile
to one pattern or another, and what its own repeats match.
"""

import ast
import importlib
import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.growth import grows_like_square
from tests.pattern_units import own_units

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("inference", "pipeline", "server")
ANCHORED = {"match", "fullmatch"}
# Never run over a long text, each for the reason that is given.
BOUNDED = {
    "pipeline.reading.names._SENTENCE_END": "reads the 6 characters before a word",
    "pipeline.summarize.graph.batches._WORDS_BEFORE": "reads the 120 characters before a bracket",
    **{f"pipeline.reading.terms._{name}": "words of at most 200 characters" for name in ("ACRONYM", "NUMBER", "TERM")},
}
FRAMES = (("", ""), ("о", "」と"))
UNITS = (
    *"#*_-–—.,;:!?'\"“”„«»「」()[]{}<>|/\\`~^&%$€£@=+ \n\t0a A×÷。、é\u0301\u200b·•…Ａо’‘",
    *("a ", "A ", "1 ", "1.", "1,", "a.", "a-", "- ", "1-", ". ", "! ", "(a", "[1", "[a](", "<a ", "</", "<!--", "--"),
    *("a'", "“a", '"a ', "1:", "A:", "a, ", "1/", "$1", "Aa ", "Aa-", "A.A ", "x=", "\n-", "\n#", "\n\n", "a\n", "  a"),
    *("of ", "the ", "Jan ", "1 and ", "one ", "not ", "n't", '{"', "\\u", "http://", "a@", "a@b.", "/a", "|a", ".a"),
    *("_a", "«a", "「a", "a b-c "),
)


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _sources() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield _module(path), path.read_text(encoding="utf-8")


def _patterns() -> dict[re.Pattern[Any], list[str]]:
    """Returns every pattern at the level of a module with its names; those of optional packages that are there."""
    found: dict[re.Pattern[Any], list[str]] = {}
    for name, source in _sources():
        if "re.compile(" not in source:
            continue
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for attribute, value in vars(module).items():
            for pattern in _held(value):
                found.setdefault(pattern, []).append(f"{name}.{attribute}")
    return found


def _held(value: object) -> Iterator[re.Pattern[Any]]:
    """Yields a pattern, or those in tables of them."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict | list | tuple | set | frozenset):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _held(part)


def _uses() -> dict[str, set[str]]:
    """Returns which methods of a name at the level of a module are called; "any" where it is handed on."""
    uses: dict[str, set[str]] = {}
    for module, source in _sources():
        tree = ast.parse(source)
        names = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        called = [
            node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        ]
        values = {id(node.value) for node in called}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in values:
                uses.setdefault(names.get(node.id, f"{module}.{node.id}"), set()).add("any")
        for node in called:
            assert isinstance(node.value, ast.Name)
            uses.setdefault(names.get(node.value.id, f"{module}.{node.value.id}"), set()).add(node.attr)
    return uses


def _works(pattern: re.Pattern[Any], methods: set[str]) -> list[Callable[[str], object]]:
    """Returns what runs a pattern as the code does; one that is searched for, all over the text."""
    encode = (lambda text: text) if isinstance(pattern.pattern, str) else str.encode
    if methods and methods <= ANCHORED:
        return [lambda text, method=method: getattr(pattern, method)(encode(text)) for method in sorted(methods)]  # type: ignore[misc]
    return [lambda text: deque(pattern.finditer(encode(text)), maxlen=0)]


def _make(before: str, unit: str, behind: str, length: int) -> str:
    return before + unit * (length // len(unit) + 1) + behind


def _quadratic(pattern: re.Pattern[Any], methods: set[str]) -> tuple[str, str, str] | None:
    """Returns the first hostile text, as what stands before, the unit that is repeated, and what stands behind."""
    general = [(before, unit, behind) for unit in UNITS for before, behind in FRAMES]
    own = [(before, unit, behind) for before, unit in own_units(pattern) for behind in ("", "\0」")]
    frames = dict.fromkeys(general + own)
    works = _works(pattern, methods)
    return next((frame for frame in frames for work in works if grows_like_square(work, partial(_make, *frame))), None)


def test_no_pattern_takes_quadratic_time() -> None:
    uses = _uses()
    slow = {}
    for pattern, names in _patterns().items():
        methods = {method for name in names for method in uses.get(name, ())} - {"pattern"}
        if not BOUNDED.keys() & set(names) and (found := _quadratic(pattern, methods)):
            slow[names[0]] = found
    assert slow == {}


def test_exceptions_are_patterns() -> None:
    names = {name for names in _patterns().values() for name in names}
    assert BOUNDED.keys() - names == set()


def test_a_quadratic_pattern_is_found_by_units_of_its_own() -> None:
    assert _quadratic(re.compile(r"(?:ab)+c"), {"search"})
    assert _quadratic(re.compile(r"zq\W*(?:or)?\W*y"), {"match"})
    assert _quadratic(re.compile(rb"x+y"), {"finditer"})
    assert _quadratic(re.compile(r"(?:<a(?:\s[^<>]*)?/?>)+"), {"fullmatch"})  # takes twice as long for each unit


def test_a_linear_pattern_is_not_found() -> None:
    assert not _quadratic(re.compile(r"(?<!ab)(?:ab)++c"), {"search"})
    assert not _quadratic(re.compile(r"(?:ab)+c"), {"match"})
    assert not _quadratic(re.compile(r'"[^"]{1,600}"'), {"search"})
