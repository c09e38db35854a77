"""Makes small DOCX, PPTX and EPUB files."""

import io
import zipfile
from collections.abc import Mapping, Sequence

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STEP = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
_LEVELS = (("decimal", "%1."), ("lowerLetter", "%1.%2)"), ("upperRoman", "%3."))
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def zipped(files: Mapping[str, str]) -> bytes:
    """Returns a ZIP file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def make_docx(*paragraphs: tuple[str, str], table: Sequence[Sequence[str]] = (), raw: str = "") -> bytes:
    """Returns a DOCX of paragraphs (style, text), XML and a table; "Step", "Step1" in it and "Clause" are a list."""
    styles = {"Title": "Title", "Heading1": "heading 1", "TOC1": "toc 1"}
    body = "".join(_paragraph(style, text) for style, text in paragraphs) + raw
    rows = "".join(
        "<w:tr>" + "".join(f"<w:tc>{_paragraph('', cell)}</w:tc>" for cell in row) + "</w:tr>" for row in table
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType='
            f'"application/xml"/><Override PartName="/word/document.xml" ContentType="{_WORD}.document.main+xml"/>'
            "</Types>",
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r2" '
            f'Type="{_OFFICE}/styles" Target="styles.xml"/><Relationship Id="r3" Type="{_OFFICE}/numbering" '
            'Target="numbering.xml"/></Relationships>',
            "word/styles.xml": f"<w:styles {_W}>"
            + "".join(
                f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
                for key, name in styles.items()
            )
            + f'<w:style w:styleId="List"><w:pPr>{_STEP}</w:pPr></w:style>'
            '<w:style w:styleId="Clause"><w:basedOn w:val="List"/></w:style></w:styles>',
            "word/numbering.xml": f'<w:numbering {_W}><w:abstractNum w:abstractNumId="0">'
            + "".join(
                f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
                for level, (form, text) in enumerate(_LEVELS)
            )
            + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>',
            "word/document.xml": f"<w:document {_W}><w:body>{body}<w:tbl>{rows}</w:tbl></w:body></w:document>",
        }
    )


def _paragraph(style: str, text: str) -> str:
    number = _STEP.replace("0", style[4:] or "0")
    properties = number if style.startswith("Step") else f'<w:pStyle w:val="{style}"/>'
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def make_epub(title: str, *chapters: str) -> bytes:
    """Returns an EPUB whose chapters are bodies of XHTML."""
    items = "".join(
        f'<item id="c{number}" href="c{number}.xhtml" media-type="application/xhtml+xml"/>'
        for number in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
            "</container>",
            "book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:language>en</dc:language>'
            f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{
                f"c{number}.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
                for number, body in enumerate(chapters)
            },
        }
    )
