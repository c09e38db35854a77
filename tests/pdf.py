"""Makes small PDF files."""

from collections.abc import Sequence
from dataclasses import dataclass

FONT = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica"
PAGE = "/MediaBox [0 0 600 800]"
FONTS = {"F2": "Helvetica-Bold", "F3": "Courier"}


@dataclass(frozen=True)
class Placed:
    """A piece of plain ASCII text and where it begins, in points from the lower left of its page."""

    x: float
    y: float
    text: str
    size: int = 10
    font: str = "F1"


def make_pdf(*pages: str) -> bytes:
    """Returns a PDF with one line of plain ASCII text on each page; an empty text leaves its page blank."""
    return make_layout([[Placed(20, 700, text, 12)] if text else [] for text in pages])


def column(x: float, y: float, *lines: str) -> list[Placed]:
    """Returns lines below each other."""
    return [Placed(x, y - 12 * row, line) for row, line in enumerate(lines)]


def make_layout(pages: Sequence[Sequence[Placed]]) -> bytes:
    """Returns a PDF with texts at their places, written in the order given."""
    return make_streams(
        *(
            "\n".join(
                f"BT /{text.font} {text.size} Tf 1 0 0 1 {text.x} {text.y} Tm ({_escaped(text.text)}) Tj ET"
                for text in texts
            )
            for texts in pages
        )
    )


def make_streams(*pages: str, font: str = FONT, page: str = PAGE) -> bytes:
    """Returns a PDF whose pages have these contents, with a font of any kind as F1 and pages of any kind."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    fonts = " ".join(f"/{name} << /Type /Font /Subtype /Type1 /BaseFont /{base} >>" for name, base in FONTS.items())
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        f"<< /F1 << {font} >> {fonts} >>",
    ]
    for number, stream in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R {page} /Contents {5 + 2 * number} 0 R /Resources << /Font 3 0 R >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    return _file(objects)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: Sequence[str]) -> bytes:
    body = "%PDF-1.4\n"
    offsets = []
    for number, text in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    xref = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{body}{xref}startxref\n{len(body)}\n%%EOF\n".encode()
