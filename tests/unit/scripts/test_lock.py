"""uv.lock is of this pyproject.toml, without asking anybody over the network."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[3]

Wanted = tuple[str, str, tuple[str, ...], str]
"""Name, versions, extras of the package, and the extra of ours that wants it."""


def read(name: str) -> dict[str, Any]:
    """Reads a TOML file of the root."""
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def declared() -> Iterator[Wanted]:
    """Yields what pyproject.toml asks for."""
    project = read("pyproject.toml")["project"]
    for extra, texts in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        for requirement in map(Requirement, texts):
            name = requirement.name.lower().replace("_", "-")
            yield name, normalised(str(requirement.specifier)), tuple(sorted(requirement.extras)), extra


def locked() -> Iterator[Wanted]:
    """Yields what uv.lock was made for."""
    [project] = [package for package in read("uv.lock")["package"] if package["name"] == "precis-server"]
    for wanted in project["metadata"]["requires-dist"]:
        _, _, extra = wanted.get("marker", "").partition("extra == ")
        versions = "" if "directory" in wanted or "editable" in wanted else wanted.get("specifier", "")
        yield wanted["name"], normalised(versions), tuple(sorted(wanted.get("extras", ()))), extra.strip("'")


def normalised(versions: str) -> str:
    """Orders the bounds of a version."""
    return ",".join(sorted(part.strip() for part in versions.split(",")))


def test_the_lock_is_of_this_project() -> None:
    client = "precis-client"  # in this repository: its version is its own
    assert {one for one in declared() if one[0] != client} == {one for one in locked() if one[0] != client}


def test_every_package_of_the_lock_has_a_hash_and_comes_from_the_public_index() -> None:
    for package in read("uv.lock")["package"]:
        if set(package["source"]) <= {"editable", "virtual", "directory"}:
            continue
        assert package["source"] == {"registry": "https://pypi.org/simple"}
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]
        assert files
        assert all(file["hash"].startswith("sha256:") for file in files)
