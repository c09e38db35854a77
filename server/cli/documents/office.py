"""DOCX and PPTX as they are shown: without what is hidden, and with the numbers that Word counts, as text."""

import io
import zipfile
from collections import defaultdict
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HIDDEN = (
    "//*[local-name()='r'][*/*[local-name()='vanish'][not(@*='0' or @*='false' or @*='off')]]"
    "|//*[local-name()='sld'][@show='0']//*[local-name()='sp' or local-name()='pic' or local-name()='graphicFrame']"
)
_BODY, _NUMBERING, _STYLES = "word/document.xml", "word/numbering.xml", "word/styles.xml"


def as_shown(data: bytes) -> bytes:
    """Returns a DOCX or PPTX without the text and the slides that its writer has hidden, with the numbers of lists."""
    from lxml import etree

    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(written, "w") as copy:
        names = archive.namelist()
        for name in names:
            part = archive.read(name)
            is_numbered = name == _BODY and {_NUMBERING, _STYLES}.issubset(names)
            if name.endswith(".xml") and (is_numbered or b"<w:vanish" in part or b' show="0"' in part):
                root = etree.fromstring(part)
                for hidden in root.xpath(_HIDDEN):
                    hidden.getparent().remove(hidden)
                if is_numbered:
                    _write_numbers(root, *(etree.fromstring(archive.read(each)) for each in (_NUMBERING, _STYLES)))
                part = etree.tostring(root)
            copy.writestr(name, part)
    return written.getvalue()


def _write_numbers(document: Any, numbering: Any, styles: Any) -> None:  # noqa: ANN401 - of lxml, an extra
    """Writes "2.1 " or "b) " into each paragraph of a list, and takes it out of the list."""
    from lxml.etree import SubElement

    lists = {
        each.get(f"{_W}abstractNumId"): {int(level.get(f"{_W}ilvl", "0")): level for level in each.iter(f"{_W}lvl")}
        for each in numbering.iter(f"{_W}abstractNum")
    }
    used = {each.get(f"{_W}numId"): each for each in numbering.iter(f"{_W}num")}
    styled = {each.get(f"{_W}styleId"): each.find(f"{_W}pPr/{_W}numPr") for each in styles.iter(f"{_W}style")}
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for properties in document.iterfind(f".//{_W}p/{_W}pPr"):
        place = properties.find(f"{_W}numPr")
        if place is None:
            place = styled.get(_value(properties, "pStyle"))
        level, num = int(_value(place, "ilvl", "0")), used.get(_value(place, "numId"))
        levels = lists.get(key := _value(num, "abstractNumId"), {})
        label = _value(levels.get(level), "lvlText")
        if not label or _value(levels[level], "numFmt") == "bullet":
            continue
        for override in num.findall(f"{_W}lvlOverride[{_W}startOverride]"):
            counts[key][int(override.get(f"{_W}ilvl"))] = int(_value(override, "startOverride")) - 1
            num.remove(override)  # it counts anew once
        count = counts[key] = {each: at for each, at in counts[key].items() if each <= level}
        count[level] = count.get(level, int(_value(levels[level], "start", "1")) - 1) + 1
        for each in levels:
            label = label.replace(f"%{each + 1}", _counted(count.get(each, 1), _value(levels[each], "numFmt")))
        for old in properties.iterchildren(f"{_W}numPr"):
            properties.remove(old)
        number = SubElement(properties, f"{_W}numPr")
        for name in ("ilvl", "numId"):
            SubElement(number, f"{_W}{name}").set(f"{_W}val", "0")  # of no list, whatever its style says
        run = properties.makeelement(f"{_W}r")
        SubElement(run, f"{_W}t").text = f"{label} "
        properties.addnext(run)


def _value(node: Any, name: str, default: str = "") -> str:  # noqa: ANN401 - of lxml, as above
    found = None if node is None else node.find(f"{_W}{name}")
    return default if found is None else found.get(f"{_W}val", default)


def _counted(number: int, form: str) -> str:
    letter = chr(ord("a") + (number - 1) % 26)
    return {"lowerLetter": letter, "upperLetter": letter.upper()}.get(form, str(number))
