"""How much is there to read? Budgets that may only fall: `python -m scripts.budgets [--lower]`.

`tests/budgets.json` holds the most that each figure may be. A test compares. Who makes a figure smaller runs `--lower`
and commits the smaller budget with the change.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator

from scripts.structure import PACKAGES, ROOT, Module, read_modules

BUDGETS = ROOT / "tests" / "budgets.json"
RULE_ROOMS = (
    *("pipeline/reading", "pipeline/support", "pipeline/judge/evidence", "pipeline/summarize/extractive"),
    *("pipeline/summarize/gate", "pipeline/summarize/citations"),
    *("pipeline/summarize/retention.py", "pipeline/summarize/duplicates.py"),
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def measure() -> dict[str, int]:
    """Counts every figure that has a budget."""
    modules = list(read_modules().values())
    rules = [module for module in modules if module.path.as_posix().startswith(RULE_ROOMS)]
    return {
        "lines": _lines(modules),
        **{f"lines.{package}": _lines(of_package(modules, package)) for package in PACKAGES},
        "lines.server.cli": _lines([module for module in modules if module.name.startswith("server.cli.")]),
        "lines.rule_rooms": _lines(rules),
        "lines.tests": sum(len(path.read_text("utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py")),
        "files.rule_rooms": len(rules),
        "regexes": sum(len(list(regexes(module.tree))) for module in modules),
        "regexes.rule_rooms": sum(len(list(regexes(module.tree))) for module in rules),
        "words.rule_rooms": sum(literal_words(module.tree) for module in rules),
        "constants": sum(constants(module.tree) for module in modules),
        "settings": settings(),
        "spans": sum(spans(module.tree) for module in modules),
        "folds": sum(folds(module.tree) for module in of_package(modules, "pipeline")),
    }


def of_package(modules: list[Module], package: str) -> list[Module]:
    """Returns the modules of one package."""
    return [module for module in modules if module.package == package]


def _lines(modules: list[Module]) -> int:
    return sum(module.lines for module in modules)


def regexes(tree: ast.AST) -> Iterator[ast.Call]:
    """Yields each use of a pattern: a call of a function of `re` that takes one."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name != "escape":
                yield node


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yields name and value of what is assigned at the level of a module."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _is_rule(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Rule"


def literal_words(tree: ast.Module) -> int:
    """Counts the words of two letters and more inside the constants of a module: lists and alternatives of patterns.

    What a rule says of itself decides nothing.
    """
    strings = (
        node.value
        for name, value in _assigned(tree)
        if (name.isupper() or name.strip("_").isupper()) and not _is_rule(value)
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return sum(len(_WORD.findall(text)) for text in strings)


def constants(tree: ast.Module) -> int:
    """Counts the numbers with a name: the constants of a module whose value holds a number."""
    return sum(
        name.strip("_").isupper()
        and any(isinstance(node, ast.Constant) and type(node.value) in (int, float) for node in ast.walk(value))
        for name, value in _assigned(tree)
    )


def spans(tree: ast.Module) -> int:
    """Counts the classes with both a `start` and an `end`."""
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            fields = {
                one.target.id
                for one in node.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            }
            count += {"start", "end"} <= fields
    return count


def folds(tree: ast.Module) -> int:
    """Counts the functions that fold a text to compare it."""
    return sum(
        any(isinstance(inner, ast.Attribute) and inner.attr == "casefold" for inner in ast.walk(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )


def settings() -> int:
    """Counts the settings of the server, as its page lists them."""
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    return sum(line.startswith("| `") for line in page.splitlines())


def read_budgets() -> dict[str, int]:
    """Returns the most that each figure may be."""
    return dict(json.loads(BUDGETS.read_text("utf-8")))


def _rounded_up(name: str, figure: int) -> int:
    """Returns lines in whole hundreds, so that a mended line is no event; everything else as it is."""
    return -(-figure // 100) * 100 if name.startswith("lines") else figure


def main() -> None:
    """Prints figures and budgets; with `--lower` writes each budget that the figure has gone below."""
    figures, budgets = measure(), read_budgets() if BUDGETS.exists() else {}
    for name, figure in figures.items():
        print(f"{name:22} {figure:7,} of {budgets.get(name, figure):7,}")
    if "--lower" in sys.argv:
        budget = {name: _rounded_up(name, figure) for name, figure in figures.items()}
        lowered = {name: min(figure, budgets.get(name, figure)) for name, figure in budget.items()}
        BUDGETS.write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
