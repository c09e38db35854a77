"""DOCX and PPTX as they are shown: without what is hidden, and with the numbers that Word counts, as text."""

import io
import zipfile
from collections import defaultdict
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_NO_LIST = f'<w:numPr xmlns:w="{_W[1:-1]}"><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>'
_HIDDEN = (
    "//*[local-name()='r'][*/*[local-name()='vanish'][not(@*='0' or @*='false' or @*='off')]]"
    "|//*[local-name()='sld'][@show='0']//*[local-name()='sp' or local-name()='pic' or local-name()='graphicFrame']"
)
_BODY, _LISTS = "word/document.xml", ("word/numbering.xml", "word/styles.xml")


def as_shown(data: bytes) -> bytes:
    """Returns a DOCX or PPTX without the text and the slides that its writer has hidden, with the numbers of lists."""
    from lxml.etree import fromstring, tostring

    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(written, "w") as copy:
        parts = {name: archive.read(name) for name in archive.namelist()}
        for name, part in parts.items():
            is_numbered = name == _BODY and all(map(parts.get, _LISTS))
            if name.endswith(".xml") and (is_numbered or b"<w:vanish" in part or b' show="0"' in part):
                root = fromstring(part)
                for hidden in root.xpath(_HIDDEN):
                    hidden.getparent().remove(hidden)
                if is_numbered:
                    _write_numbers(root, *(fromstring(parts[each]) for each in _LISTS))
                parts[name] = tostring(root)
            copy.writestr(name, parts[name])
    return written.getvalue()


def _write_numbers(document: Any, numbering: Any, styles: Any) -> None:  # noqa: ANN401 - of lxml, an extra
    """Writes "2.1 " or "b) " into each paragraph of a list, and takes it out of the list."""
    from lxml.etree import fromstring

    lists = {each.get(f"{_W}abstractNumId"): each.findall(f"{_W}lvl") for each in numbering}
    used = {each.get(f"{_W}numId"): each for each in numbering}
    styled = {each.get(f"{_W}styleId"): each.find(f"{_W}pPr/{_W}numPr") for each in styles}
    counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for properties in document.iterfind(f".//{_W}p/{_W}pPr"):
        place = properties.find(f"{_W}numPr")
        place = styled.get(_value(properties, "pStyle")) if place is None else place
        level, num = int(_value(place, "ilvl") or 0), used.get(_value(place, "numId"))
        levels = dict(enumerate(lists.get(key := _value(num, "abstractNumId"), ())))
        label = _value(levels.get(level), "lvlText")
        if not label or _value(levels[level], "numFmt") == "bullet":
            continue
        for override in num.findall(f"{_W}lvlOverride[{_W}startOverride]"):  # it counts anew, once
            counts[key][int(override.get(f"{_W}ilvl"))] = int(_value(override, "startOverride")) - 1
            num.remove(override)
        count = counts[key] = {each: number for each, number in counts[key].items() if each <= level}
        count[level] = count.get(level, int(_value(levels[level], "start") or 1) - 1) + 1
        for each, one in levels.items():
            number, form = count.get(each, 1), _value(one, "numFmt")
            shown = chr(ord("a") + (number - 1) % 26) if form.endswith("Letter") else str(number)
            label = label.replace(f"%{each + 1}", shown.upper() if form == "upperLetter" else shown)
        run = properties.makeelement(f"{_W}r")
        run.append(run.makeelement(f"{_W}t"))
        run[0].text = f"{label} "
        properties.addnext(run)
        properties.insert(0, fromstring(_NO_LIST))  # the first one holds


def _value(node: Any, name: str) -> str:  # noqa: ANN401 - of lxml, as above
    found = None if node is None else node.find(f"{_W}{name}")
    return "" if found is None else str(found.get(f"{_W}val", ""))
