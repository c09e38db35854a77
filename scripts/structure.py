"""How is the house built? Modules, lines and imports, counted once for scripts/check and the tests.

Run: python -m scripts.structure
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("inference", "pipeline", "server")
CLIENT = "protos/precis"  # the fourth room: what people install to call the server

Modules = dict[str, "Module"]
Graph = dict[str, set[str]]


@dataclass(frozen=True)
class Module:
    """One hand-written module that is not empty.

    Attributes:
        name: dotted, as in an import.
        path: relative to the repository root.
        lines: of the file.
        tree: its syntax tree.
    """

    name: str
    path: Path
    lines: int
    tree: ast.Module

    @property
    def package(self) -> str:
        """The first part of the name."""
        return self.name.split(".", 1)[0]


def read_modules(folders: Iterable[str] = PACKAGES, root: Path = ROOT) -> Modules:
    """Reads the modules below some folders; generated stubs and empty `__init__.py` are left out."""
    modules = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if "_pb2" in path.name or not path.stat().st_size:
                continue
            place = path.relative_to(root)
            parts = place.with_suffix("").parts[place.parts[0] == "protos" :]
            name = ".".join(parts).removesuffix(".__init__")
            text = path.read_text(encoding="utf-8")
            modules[name] = Module(name, place, len(text.splitlines()), ast.parse(text))
    return modules


def imported_names(tree: ast.AST, *, late: bool = True) -> Iterator[tuple[int, str]]:
    """Yields line and dotted name of everything that is imported.

    Args:
        tree: of a module.
        late: also what is imported inside functions.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from inference import compile` names a module too.
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif late or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imported_names(node, late=late)


def import_graph(modules: Modules, *, late: bool = False) -> Graph:
    """Returns the modules that each module imports; `late` counts imports inside functions as well."""
    graph: Graph = {}
    for name, module in modules.items():
        imported = (found for _, found in imported_names(module.tree, late=late))
        targets = (found if found in modules else found.rpartition(".")[0] for found in imported)
        graph[name] = {target for target in targets if target in modules}
    return graph


def find_circle(graph: Graph) -> list[str]:
    """Returns the modules of one import circle, the first of them again at the end; none if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def longest_chain(graph: Graph) -> tuple[str, ...]:
    """Returns the longest way from module to imported module, in a graph without circles."""
    chains: dict[str, tuple[str, ...]] = {}
    for name in TopologicalSorter(graph).static_order():
        chains[name] = (name, *max((chains[target] for target in sorted(graph[name])), key=len, default=()))
    return max(chains.values(), key=len)


def repeated_classes(modules: Modules) -> dict[str, list[str]]:
    """Lists the modules of each public class name that stands at the top of more than one."""
    places = defaultdict(list)
    for module in modules.values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module.name)
    return {name: found for name, found in places.items() if len(found) > 1}


def repeated_names(modules: Modules) -> dict[tuple[str, str], list[str]]:
    """Lists, by package and last name, the modules that share them with another module."""
    places = defaultdict(list)
    for module in modules.values():
        places[module.package, module.path.stem].append(module.name)
    return {name: found for name, found in places.items() if len(found) > 1}


def main() -> None:
    """Prints the numbers."""
    modules = read_modules()
    lengths = [module.lines for module in modules.values()]
    chain = longest_chain(import_graph(read_modules((*PACKAGES, CLIENT))))
    print(f"{len(modules)} files, {sum(lengths):,} lines, median {median(lengths):g}, longest {max(lengths)}")
    print(f"longest import chain {len(chain)}: {' > '.join(chain)}")


if __name__ == "__main__":
    main()
