"""The prompts of all roles: one template file each, which a folder of the user's own may override.

A file has a head (`key: value`, among them an example of every variable) and sections that begin with `--- name`. In a
section `$name` is a variable; a line whose variables are all empty is left out.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template

_MARK, _FACTS, _FENCE_RULE = "--- ", ("version", "role", "asks"), "<data-N> and </data-N>"


class PromptError(ValueError):
    """A template breaks a rule; says which file and section, and what was expected."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One template."""

    name: str  # of the file, without its ending
    version: str  # counts up with every change of ours; a user's file has its own
    role: str  # of the language model that is asked
    asks: str  # what for, in one line
    examples: Mapping[str, str]  # of its variables
    sections: Mapping[str, str]  # templates by name; `system`, and one or several for the user's message
    text: str  # the file

    def fill(self, section: str, **words: str) -> str:
        """Returns a section with its variables filled; what is not ours has been marked by a fence."""
        return "\n".join(_filled_lines(self.sections[section], words))

    def variables(self, section: str) -> set[str]:
        """Returns the names that a section has in it."""
        return set(Template(self.sections[section]).get_identifiers())


def _filled_lines(template: str, words: Mapping[str, str]) -> Iterator[str]:
    for line in template.splitlines():
        filled = Template(line).substitute(words).strip("\n")
        if filled.strip() or not line.strip():
            yield filled


class Prompts(dict[str, Prompt]):
    """The prompts in force, by name; a folder of the user's may override some.

    Raises PromptError: a file is no prompt, has other variables than ours, no rule of the fence, or is too long.
    """

    max_section_chars = 8_000  # a longer one leaves a small context no room for the material

    def __init__(self, overrides: Path | None = None) -> None:
        ours = {path.stem: _read(path) for path in sorted(Path(__file__).parent.glob("*.txt"))}
        super().__init__(ours)
        for path in sorted(overrides.iterdir()) if overrides else ():
            if path.suffix == ".txt":
                self[path.stem] = _override(path, ours)

    def identity(self, *roles: str) -> str:
        """Returns the version of all prompts of some roles together, a hash, as `precis prompts list` shows it."""
        words = "\0".join(prompt.text for prompt in self.values() if prompt.role in roles)
        return f"prompts {hashlib.sha256(words.encode()).hexdigest()[:8]}"


@cache
def built_in() -> Prompts:
    """Returns the prompts as they are shipped."""
    return Prompts()


def _read(path: Path) -> Prompt:
    text = path.read_text("utf-8")
    head, *parts = f"\n{text.strip()}\n".split(f"\n{_MARK}")
    facts = dict(line.partition(": ")[::2] for line in head.strip().splitlines())
    sections = {name.strip(): body.strip() for name, _, body in (part.partition("\n") for part in parts)}
    if not sections or (missing := [name for name in _FACTS if name not in facts]):
        what = "sections that begin with `--- name`" if not sections else f"`{missing[0]}: ...` in the head"
        raise PromptError(f"{path}: expected {what}")
    for name, body in sections.items():
        if not Template(body).is_valid():
            raise PromptError(f"{path}, {name}: expected `$$` where a dollar sign is meant")
    examples = {name: value for name, value in facts.items() if name not in _FACTS}
    return Prompt(path.stem, facts["version"], facts["role"], facts["asks"], examples, sections, text)


def _override(path: Path, ours: Mapping[str, Prompt]) -> Prompt:
    """Returns a user's prompt; sections that it leaves out are ours."""
    own = ours.get(path.stem)
    if own is None or own.role == "gate":  # what the gate says of an answer is data of the critique, no prompt
        names = ", ".join(name for name, prompt in ours.items() if prompt.role != "gate")
        raise PromptError(f"{path}: expected one of {names} as its name")
    given = _read(path)
    for name, body in given.sections.items():
        if name not in own.sections:
            raise PromptError(f"{path}: expected sections of {', '.join(own.sections)}, got {name}")
        wanted, found = own.variables(name), given.variables(name)
        if wanted != found:
            raise PromptError(f"{path}, {name}: expected the variables {_named(wanted)}, got {_named(found)}")
        if _FENCE_RULE in own.sections[name] and _FENCE_RULE not in body:
            raise PromptError(f"{path}, {name}: expected the rule of the fence, with the words {_FENCE_RULE}")
        if len(body) > (most := Prompts.max_section_chars):
            raise PromptError(f"{path}, {name}: expected at most {most:,} characters, got {len(body):,}")
    return replace(given, role=own.role, examples=own.examples, sections={**own.sections, **given.sections})


def _named(variables: set[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(variables)) or "none"
