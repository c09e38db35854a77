"""Reads a report back: its elements, their texts, and what it would load."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}


@dataclass
class Element:
    """An element with what is inside it."""

    name: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text in it, as it stands."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def find(self, name: str = "", **attributes: str) -> Iterator["Element"]:
        """Yields the elements inside with a name and attributes; a class is among those of the element."""
        for child in self.children:
            if isinstance(child, Element):
                if name in ("", child.name) and all(child.has(key, value) for key, value in attributes.items()):
                    yield child
                yield from child.find(name, **attributes)

    def has(self, key: str, value: str) -> bool:
        """Tells whether an attribute has a value; `class_` and `data_x` stand for what Python cannot spell."""
        found = self.attributes.get(key.rstrip("_").replace("_", "-"), "")
        return value in found.split() if key == "class_" else value == found


class PageReader(HTMLParser):
    """Builds the tree of a page. Fails when elements are not closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


def read_page(html: str) -> Element:
    """Parses a page."""
    reader = PageReader()
    reader.feed(html)
    reader.close()
    assert reader._open == [reader.root], "an element is not closed"  # noqa: SLF001 - the reader is of this file
    return reader.root


def one(element: Element, name: str = "", **attributes: str) -> Element:
    """Finds the only element inside with a name and attributes. Fails when there is another number of them."""
    [found] = element.find(name, **attributes)
    return found
