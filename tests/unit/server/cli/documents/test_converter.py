"""Documents in other formats become Markdown."""

import importlib.util
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from server.cli.documents import confined, converter
from server.cli.documents.read import read_document_pages, read_document_text
from server.cli.errors import InputError
from tests.office import make_docx, make_epub

STEPS = [("Step", "Open it."), ("Step1", "Wait."), ("Step2", "Go."), ("", "It hums."), ("Clause", "Stop.")]
PAGE = """<!DOCTYPE html><html><head><title>Shop</title><script>var secret = 1;</script></head><body>
<nav><ul><li><a href="/">Home</a></li></ul></nav><main><h1>Pump skid</h1><ul><li><a href="#start">Start</a></li></ul>
<p>It holds <b>40 bar</b>; see <a href="guide.html">the guide</a>.<img src="a.png" alt=""></p>
<ol><li>Open valve V-12.</li></ol><table><tr><th>Bolt</th><th>Torque</th></tr><tr><td>B-1</td><td>40 Nm</td></tr>
</table>
<pre>systemctl start pump</pre></main><footer>Imprint</footer></body></html>"""
SPANS = """<table><caption>Fees</caption><tr><th rowspan=2>Ship</th><th colspan=2>Fee</th></tr>
<tr><th>May</th><th>June</th></tr><tr><td rowspan=2>Tern</td><td>1</td><td>2</td></tr>
<tr><td colspan=2>none</td></tr><tr><td colspan=3>In euros</td></tr></table>"""
NESTED = """<s>Old.</s><table><tr><td>North</td><td><table><tr><th>Flow</th></tr>
<tr><td><ol><li>12 l/s</li><li>9 l/s</li></ol></td></tr></table></td></tr></table>"""
MAIL_PART = b"Content-Type: multipart/x;boundary=x\n\n--x\n"
TABLE_ENDS = "</w:tc></w:tr></w:tbl>" * 10_000
SPREAD = (
    "| Ship | Fee May | Fee June |",
    "| --- | --- | --- |",
    "| Tern | 1 | 2 |",
    "| Tern | none | none |",
    "| In euros | In euros | In euros |",
)


def read(tmp_path: Path, name: str, data: bytes) -> str | list[str]:
    (tmp_path / name).write_bytes(data)
    return read_document_pages(tmp_path / name)


def test_a_web_page_keeps_its_text_and_not_its_menus(tmp_path: Path) -> None:
    text = read(tmp_path, "page.html", PAGE.encode())
    assert isinstance(text, str)
    assert text.startswith("# Pump skid")
    assert "It holds **40 bar**; see the guide." in text
    assert "1. Open valve V-12." in text
    assert "| B-1 | 40 Nm |" in text
    assert "```\nsystemctl start pump\n```" in text
    assert not any(word in text for word in ("Home", "Imprint", "secret", "guide.html", "Start\n"))


def test_a_word_document_keeps_headings_numbered_steps_and_tables(tmp_path: Path) -> None:
    data = make_docx(
        ("Title", "Pump"), ("TOC1", "Start 3"), ("Heading1", "Start"), *STEPS, table=[("Bolt", "Nm"), ("B-1", "40")]
    )
    text = read(tmp_path, "manual.docx", data)
    assert text == (
        "# Pump\n\n# Start\n\n1. Open it.\n\n1.a) Wait.\n\nI. Go.\n\nIt hums.\n\n2. Stop."
        "\n\n| Bolt | Nm |\n| --- | --- |\n| B-1 | 40 |"
    )


def test_a_roman_number_beyond_39_is_written_in_digits(tmp_path: Path) -> None:
    text = read(tmp_path, "list.docx", make_docx(*[("Step2", "Go.")] * 40))
    assert str(text).split("\n\n")[-2:] == ["XXXIX. Go.", "40. Go."]


def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    book = make_epub("Pumps", "<h1>One</h1><p>It holds 4 bar.</p>", "<h1>Two</h1><p>It weighs 9 kg.</p>")
    text = read(tmp_path, "book.epub", book)
    assert isinstance(text, str)
    assert " ".join(text.split()) == "# Pumps # One It holds 4 bar. # Two It weighs 9 kg."


def test_each_slide_is_a_page_with_its_notes(tmp_path: Path) -> None:
    pptx = pytest.importorskip("pptx")
    show = pptx.Presentation()
    slides = [show.slides.add_slide(show.slide_layouts[1]) for _ in range(2)]
    for slide, title in zip(slides, ("Review", "Results"), strict=True):
        slide.shapes.title.text, slide.placeholders[1].text = title, f"{title} of 2026: 4,200 t."
    slides[-1].notes_slide.notes_text_frame.text = "The press stood for 9 days."
    show.save(tmp_path / "show.pptx")
    pages = read_document_pages(tmp_path / "show.pptx")
    assert pages[0] == "# Review\nReview of 2026: 4,200 t."
    assert "The press stood for 9 days." in pages[1]
    assert len(pages) == 2
    assert "4,200 t." in read_document_text(tmp_path / "show.pptx")


@pytest.mark.parametrize(("rest", "suffix"), [(b"<ann> <html>", None), (b"\n<HTML>", ".html"), (b"<p>a</p>", ".html")])
def test_comments_before_a_text_are_passed_over_at_once(rest: bytes, suffix: str | None) -> None:
    comments = b"<!-- reviewed -->\n" * 200
    assert converter.convertible_suffix(comments + rest, Path("notes")) == suffix


def test_without_the_extra_its_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"DOCX needs the extra documents: `scripts/setup documents`"):
        converter.convert(make_docx(*STEPS), ".docx")


@pytest.mark.parametrize(
    ("limit", "name", "data"),
    [
        (("_LIMIT_S", 4), "m.docx", lambda: make_docx(raw="<w:tbl><w:tr><w:tc>" * 10_000 + TABLE_ENDS)),
        (("_LIMIT_S", 4), "m.eml", lambda: b"MIME-Version: 1.0\n" + MAIL_PART * 50_000),
        (("_LIMIT_S", 9), "m.html", lambda: b"<html>" + b"<b>" * 30_000),
        (("_MEMORY_MIB", 300), "m.docx", lambda: make_docx(raw="<w:p/>" * 2_000_000)),
        (("_MEMORY_MIB", 300), "m.docx", lambda: make_docx(raw=" " * 400_000_000)),
        (("_MEMORY_MIB", 200), "m.html", lambda: b"<html><table>" + b"<tr><td rowspan=99 colspan=99>x" * 3_000),
    ],
)
def test_a_file_that_needs_too_much_ends_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: tuple[str, int], name: str, data: Callable[[], bytes]
) -> None:
    monkeypatch.setattr(confined, *limit)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(InputError, match=rf"{name}: (reading it takes more than|cannot read this DOCX: \w)"):
        read(tmp_path, name, data())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < confined._LIMIT_S + 1  # noqa: SLF001


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            '<p>See <img src="a(1).png" alt="the pump"> and <a href="https://a.example/x?y=1">us</a>.</p>',
            "See the pump and us.",
        ),
        ('<ul><li><a href="/">Home</a></li><li><a href="/a">Away</a> is left.</li></ul>', "* Away is left."),
        (
            "<p>The sample held 10<sup>6</sup> cells and 10<sup>-3</sup> g.</p>",
            "The sample held 10^6 cells and 10^-3 g.",
        ),
        ('<p>Fees rose<sup><a href="#cite_note-5">[5]</a></sup> in 2021<sup>4</sup>.</p>', "Fees rose in 2021."),
        ('<p>Seen.</p><p hidden>A</p><p style="display: none">B</p><p style="visibility:hidden">C</p>', "Seen."),
        ("<p>The 2<sup>nd</sup> of <msup><mi>b</mi><mn>2</mn></msup>, 5 m<sup>2</sup>.</p>", "The 2nd of b^2, 5 m^2."),
        ("<h1>Ramp</h1><main><dl><dt>Ramp</dt><dd>A place.</dd></dl></main>", "# Ramp\n\nRamp\n\nA place."),
        (
            "<section><a href='#a'>Skip</a></section><h2>Fees <span>[<a href='/e'>edit</a>]</span></h2>They rose.",
            "## Fees\n\nThey rose.",
        ),
        ("<div class='avatar'>AL</div><span epub:type='pagebreak'>3</span>A <a href='#b'>ramp</a>.", "A ramp."),
        ("<main><div class='_a6-g'>New.</div><div class='_a6-g'>Old.</div></main>", "Old.\n\nNew."),
        (f"{'<div>' * 900}Seen.{'</div>' * 900}", "Seen."),
        ("<div><img src='a.png' alt='Logo'></div><![if !x]><p>Seen.</p><![endif]>", "Seen."),
        ("<div class='CookieBar'>We use cookies.</div><p>Set <u>max_size</u> to 2*4*8.</p>", "Set max_size to 2*4*8."),
        ("<p>Seen.</p><p><a href='#cmnt_ref1'>[a]</a> Why?</p><div class='printfooter'>From x.</div>", "Seen."),
        (NESTED, "North\n\n| Flow |\n| --- |\n| 12 l/s; 9 l/s; |"),
        (SPANS, "Fees\n\n" + "\n".join(SPREAD)),
    ],
)
def test_of_a_page_what_is_read_stays(tmp_path: Path, body: str, text: str) -> None:
    assert read(tmp_path, "a.html", f"<html><body>{body}</body></html>".encode()) == text


def test_a_power_in_a_word_document_is_kept_and_hidden_text_is_not(tmp_path: Path) -> None:
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r>'
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>Not this.</w:t></w:r>"
    run = f"{hidden}<w:r><w:t>The sample held 10</w:t></w:r>{raised}"
    data = make_docx(raw=f"<w:p>{run}<w:r><w:t> cells.</w:t></w:r></w:p>")
    assert read(tmp_path, "a.docx", data) == "The sample held 10^6 cells."


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("- [x] Wash it\n- [ ] Dry it", "* [x] Wash it\n* [ ] Dry it"),
        ("# Tags\n\nGo to <host> at 14&nbsp;h.", "# Tags\n\nGo to <host> at 14\u00a0h."),
        (
            f"See ![the ramp](data:image/png;base64,{'iVBOR' * 400}) and ![](a(1).png)it [here](https://a.org/b).",
            "See the ramp and it here.",
        ),
        (
            "---\ntitle: x\n---\n<!-- no -->\n# Ramp\n\n10<sup>6</sup> N.\n\n|a|b|\n|--|--|\n|1||\n\n```\n<b>\n```",
            "# Ramp\n\n10^6 N.\n\n| a | b |\n| --- | --- |\n| 1 |  |\n\n```\n<b>\n```",
        ),
        (
            "Fees rose.[^1] They fall [-@holt:21, p. 3; see also @ray].\n\n[^1]: Minutes.",
            "Fees rose. They fall.\n\n---\n\n1. Minutes.",
        ),
        (
            '!!! warning "Hot"\n    Never touch it.\n\n:::tip\nUse it.\n:::',
            'warning "Hot"\nNever touch it.\n\ntip\nUse it.',
        ),
        (
            "# Pump {#pump}\n\nIt runs.{: .lead } Ask [ann@a.org] or [@bob](b.md).",
            "# Pump\n\nIt runs. Ask [ann@a.org] or @bob.",
        ),
        ("Use `[^1]`.\n```\n{% if [@a] %}\n:::\n```", "Use `[^1]`.\n\n```\n{% if [@a] %}\n:::\n```"),
        ("Use %% for a %.\n\nIt rose by 5 %%.\n\n%%\nno\n%%", "Use %% for a %.\n\nIt rose by 5 %%."),
        (
            "---\na: b\n---\nAsk [[People/Ann Lee|Ann]]. ==Soon==. %% no %%See [the list][1]. ^a\n\n![[a.png]]\n\n[1]: https://a.b",
            "Ask Ann. Soon. See the list.",
        ),
    ],
)
def test_images_tags_and_marks_of_notes_and_boxes_are_no_text_of_markdown(
    tmp_path: Path, markdown: str, text: str
) -> None:
    assert read(tmp_path, "a.md", markdown.encode()) == text


@pytest.mark.parametrize("charset", ["", "; charset=utf-8"])
def test_a_mail_as_it_is_sent_is_decoded(tmp_path: Path, charset: str) -> None:
    head = "From: ann@example.org\nSubject: Ramp\nX-Mailer: none\nMIME-Version: 1.0\n"
    head += f"Content-Type: text/plain{charset}\nContent-Transfer-Encoding: quoted-printable\n"
    data = f"{head}\nThe caf=C3=A9 pays 9=2C400 euros.\n".encode()
    assert read(tmp_path, "a.eml", data) == "From: ann@example.org\nSubject: Ramp\n\nThe café pays 9,400 euros.\n"
