"""The documents that commands read, and what a summary gets of them."""

from pathlib import Path

import pytest

from server.cli.documents.read import read_document_text
from server.cli.errors import InputError
from server.cli.summarize.source import CHUNK_CHARS, read_document
from tests.office import zipped
from tests.pdf import make_pdf


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    document = read_document([write(tmp_path / "manual.pdf", make_pdf("Close valve V-12.", "", "Open valve V-13."))])
    assert [(chunk.page_number, chunk.text.strip()) for chunk in document.chunks] == [
        (1, "Close valve V-12."),
        (3, "Open valve V-13."),
    ]
    assert (document.total_pages, document.name, document.text) == (3, "manual.pdf", "")


def test_a_long_page_becomes_several_chunks_and_loses_nothing(tmp_path: Path) -> None:
    sentences = [f"Step {number} takes {number} minutes." for number in range(200)]
    document = read_document([write(tmp_path / "download", make_pdf(" ".join(sentences)))])
    assert all(len(chunk.text) <= CHUNK_CHARS for chunk in document.chunks)
    assert all(chunk.text.rstrip().endswith(".") for chunk in document.chunks)
    text = "".join(chunk.text for chunk in document.chunks)
    assert all(sentence in text for sentence in sentences)


def test_a_text_is_left_to_the_server(tmp_path: Path) -> None:
    document = read_document([write(tmp_path / "notes.md", "# Überblick\n\nText.".encode())])
    assert (document.text, document.document_id, len(document.chunks)) == ("# Überblick\n\nText.", "notes.md", 0)
    prose = '{"port": 80} is the whole file.\n'
    assert read_document_text(write(tmp_path / "a.txt", prose.encode())) == prose


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("scan.pdf", make_pdf("", ""), "none of its 2 pages holds text"),
        ("broken.pdf", make_pdf("Close valve V-12.")[:60], "cannot read this PDF"),
        ("blank.txt", b" \n", "holds no text"),
        ("data.bin", b"ab\x00\x01", "data.bin: no text: a zero byte at 2: save it as PDF"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0", "an image: run OCR"),
        ("s.json", b'{\n  "summary_id": "1"}', "a summary as JSON: take the text"),
        ("a.tgz", b"\x1f\x8b\x08\0", "an archive: unpack it"),
        ("a.ics", b"BEGIN:VCALENDAR\nVERSION:2.0\n", "a calendar or address book"),
        ("a.ass", b"[Script Info]\nTitle: x\n", "subtitles of another format"),
        ("a.tex", b"% a\n\\documentclass{article}\n\\begin{document}\nA.\n", "TeX: make a PDF"),
        ("a.tex", b"\\documentclass{article}\\begin{document} A.\n", "TeX: make a PDF"),
        ("a.txt", b"\\chapter{Fees}\n\\label{fees}\nThey rose.\n", "TeX: make a PDF"),
        ("a.txt", b"Pump\n====\n\n.. note::\n\n   Hot.\n\n.. image:: a.png\n", "reStructuredText: save it"),
        ("a.txt", b"#+TITLE: Pump\n#+OPTIONS: toc:nil\n* Start\n", "Org: export it"),
        ("a.txt", b"{{Town\n}}\n'''Norsund''' is a [[town]].\n", "a page of a wiki: save it as HTML"),
        ("pump.1", b".TH PUMP 1\n.SH NAME\npump\n", "a man page: save what"),
        ("a.mbox", b"From a@b.org Thu\nFrom: a@b.org\n\nYes.\n\nFrom c@b.org Thu\nFrom: c@b.org\n\nNo.\n", "a mailbox"),
        ("a.rst", b"Title\n=====\n\n:ref:`a`\n", "a.rst: reStructuredText: save it as HTML"),
        ("e.csv", b"", "holds no text"),
        ("a.csv", b"a,b\n" + b"1,2\n" * 6_000, "a.csv: 6,001 rows: at most 5,000"),
        ("a.csv", b"1\n" * 4_000 + b"1," * 300, "at most 5,000 are read, and 1,000,000 cells"),
        ("m.docx", b"PK\x03\x04broken", "m.docx: a damaged ZIP file"),
        ("m.docx", zipped({"word/document.xml": "no xml"}), "m.docx: cannot read this DOCX"),
        ("m.zip", zipped({"a.txt": "text"}), "m.zip: an archive: unpack it"),
        ("m.xlsx", zipped({"xl/workbook.xml": "<x/>"}), "m.xlsx: a spreadsheet: save each sheet as CSV"),
        ("m.odt", zipped({"content.xml": "<x/>"}), "m.odt: an OpenDocument file: save it as DOCX"),
        ("m.doc", b"\xd0\xcf\x11\xe0\xa1\xb1", "m.doc: a format of before 2007"),
        ("m.pptx", zipped({"ppt/presentation.xml": "<x/>"}), "m.pptx: cannot read this PPTX"),
        ("a.rtf", rb"{\rtf1\ansi The board met.\par}", "a.rtf: RTF: save it as DOCX or PDF"),
        ("a.ipynb", b'{\n "cells": [], "nbformat": 4}', "a.ipynb: JSON: save what it says as text"),
        ("feed", b'<?xml version="1.0"?><rss><channel/></rss>', "feed: XML: save what it says"),
        ("a.svg", b"<!-- 1 -->\n<svg width='9'><text>Lock</text></svg>\n", "a.svg: XML: save what it says"),
        ("a.json", b'[\n {"user": "Ann", "text": "We ship."}]', "a.json: JSON: save what it says as text"),
        ("a.jsonl", b'{"text": "We ship."}\n{"text": "On Friday."}', "a.jsonl: JSON: save what it says as text"),
        ("a.ps", b"%!PS-Adobe-3.0\n(Lock) show\n", "a.ps: PostScript: make a PDF of it"),
        ("a.txt", "Lock".encode("utf-16"), "a.txt: UTF-16: save it as UTF-8"),
        ("m.bin", b"PK\x05\xff", "m.bin: not UTF-8 at byte 3: save it as PDF, HTML, DOCX, EPUB, PPTX, CSV or UTF-8"),
    ],
)
def test_what_cannot_be_summarized_is_named(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_document([write(tmp_path / name, data)])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", 'Part,"Torque, Nm",Note\nM8,25,\n"M|10",50,"dry,\nclean"\n,,\n'),
        ("a.csv", "sep=;\r\nPart;Torque, Nm;Note\nM8;25\nM|10;50;dry, clean\n"),
        ("a.tsv", "Part\tTorque, Nm\tNote\r\nM8\t25\t\r\nM|10\t50\tdry, clean\r\n"),
    ],
)
def test_a_table_of_values_is_read_as_a_table_with_its_empty_cells(tmp_path: Path, name: str, data: str) -> None:
    assert read_document_text(write(tmp_path / name, data.encode())).split("\n") == [
        "| Part | Torque, Nm | Note |",
        "| --- | --- | --- |",
        "| M8 | 25 |  |",
        "| M¦10 | 50 | dry, clean |",
    ]
