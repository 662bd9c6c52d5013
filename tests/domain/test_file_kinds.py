"""Kinds of file by their bytes: a wrong name is no obstacle, and what is not read has a reason."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.file_kinds import KINDS, problem, sniff, supported_name, title_from_name


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


def open_document(kind: str) -> bytes:
    data = zipped("mimetype", "content.xml", "META-INF/manifest.xml")
    told = f"application/vnd.oasis.opendocument.{kind}".encode()
    return data.replace(b"mimetypex", b"mimetype" + told, 1)


MAIL = b"From: a@example.com\r\nMessage-ID: <1@x>\r\nContent-Type: text/plain\r\n\r\nHello"
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\nstartxref\n0\n%%EOF"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100)
LOCKED = bytes(500) + "EncryptedPackage\0".encode("utf-16-le")


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (PDF, "a.txt", "pdf"),
        (b"junk before it\n" + PDF, "", "pdf"),
        (b"%QDF-1.4\n1 0 obj\nendobj\nstartxref\n0\n%%EOF", "a.pdf", "pdf"),
        (b"A PDF begins with %PDF-1.4, as everybody knows.", "a.txt", "text"),
        (zipped("[Content_Types].xml", "word/document.xml"), "a.pdf", "docx"),
        (zipped("[Content_Types].xml", "ppt/presentation.xml"), "", "pptx"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "a.zip", "xlsx"),
        (zipped("mimetype", "META-INF/container.xml"), "a.zip", "epub"),
        (open_document("text"), "a.zip", "odt"),
        (open_document("text-template"), "", "odt"),
        (open_document("presentation"), "a.odt", "odp"),
        (open_document("spreadsheet"), "", "ods"),
        (zipped("content.xml", "META-INF/manifest.xml"), "a.ods", "ods"),
        (MAIL, "", "eml"),
        (MAIL, "a.txt", "text"),
        (MAIL.replace(b"text/plain", b"multipart/related"), "a.eml", "eml"),
        (MAIL.replace(b"text/plain", b"multipart/related"), "a.mht", "html"),
        (b"From: here\n\nto there", "", "text"),
        (b'{"cells": [], "nbformat": 4}', "", "ipynb"),
        (b'{"cells": [], "nbformat": 4}', "a.txt", "text"),
        (b"{", "a.ipynb", "ipynb"),
        (b"<!DOCTYPE html><p>x", "a.md", "html"),
        (b"\xef\xbb\xbf\n<?xml version='1.0'?>\n<!-- x --> <HTML lang=en>", "a", "html"),
        (b"<p align=center>A readme</p>\n\n# Title", "README.md", "markdown"),
        (b"<p>A page</p>", "page", "html"),
        (b"<p>A page</p>", "page.html", "html"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "", "csv"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "a.txt", "text"),
        (b"just text", "a.csv", "csv"),
        (b"One, two.\nThree, four, five.\nSix.\n", "", "text"),
        (b"# Title", "a.md", "markdown"),
        (b"# Title", "A.MARKDOWN", "markdown"),
        (b"def f(): ...", "a.py", "text"),
        ("Größe".encode("utf-16"), "a.txt", "text"),
        ("Größe".encode("cp1252"), "a.txt", "text"),
        (b"", "a.pdf", "text"),
        (b"MZ is a country code, or not", "a.txt", "text"),
        (b"SQLite is a library", "a.txt", "text"),
    ],
)
def test_the_kind(data: bytes, name: str, kind: str) -> None:
    assert sniff(data, name) == kind


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (PNG, "a.txt", "a PNG image; Helix reads text, Markdown, HTML, PDF,"),
        (b"\xff\xd8\xff\xe0\x00", "a.pdf", "a JPEG image; Helix reads"),
        (b"MZ\x90\x00\x03\x00", "setup.exe", "a program; Helix reads"),
        (b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00", "", "a WebP image; Helix reads"),
        (OLE2, "a.doc", "an old Word file, or one made like it: save it as .docx"),
        (OLE2, "a.xlsx", "an old Excel file, or one made like it: save it as .xlsx"),
        (
            OLE2,
            "a.msg",
            "an old Outlook file, or one made like it: save it as .eml",
        ),
        (OLE2 + LOCKED, "a.xlsx", "encrypted: save it as .xlsx without a password"),
        (OLE2 + LOCKED, "", "encrypted: save it as .docx, .xlsx or .pptx without a password"),
        (b"{\\rtf1 text}", "a.rtf", "a rich-text file: save it as .docx"),
        (zipped("a.txt"), "a.zip", "a ZIP archive: unpack it and ingest what is in it"),
        (
            open_document("graphics"),
            "a.odg",
            "an OpenDocument file of another kind: save it as",
        ),
        (open_document("text")[:-30], "a.odt", "a damaged OpenDocument text file: its list of"),
        (zipped("[Content_Types].xml", "word/d.xml")[:-30], "a.docx", "a damaged Word file: its"),
        (b"\x00\x01\x02\x03", "a.pdf", "not the PDF file that its name says: binary data"),
        (b"\x00\x01\x02\x03", "a", "binary data; Helix reads"),
    ],
)
def test_what_is_not_read_has_its_reason(data: bytes, name: str, reason: str) -> None:
    assert sniff(data, name) is None
    assert problem(data, name).startswith(reason)
    assert "\n" not in problem(data, name)


def test_a_zip_that_claims_an_endless_directory() -> None:
    good = zipped("[Content_Types].xml", "word/document.xml")
    end = good.rfind(b"PK\x05\x06")
    assert sniff(good[: end + 12] + b"\xff\xff\xff\x7f" + good[end + 16 :]) is None


def test_suffixes() -> None:
    assert supported_name("folder/A.PDF")
    assert not supported_name("pdf")
    assert not supported_name("a.png")
    suffixes = [suffix for media in KINDS.values() for suffix in media.suffixes]
    assert len(suffixes) == len(set(suffixes))


@given(st.binary(max_size=300), st.sampled_from(["", "a.pdf", "a.docx", "a.txt", "a.bin"]))
def test_any_bytes_have_a_kind_or_a_reason(data: bytes, name: str) -> None:
    kind = sniff(data, name)
    assert kind in KINDS if kind else problem(data, name)


@given(st.binary(max_size=300))
def test_any_zip_has_a_kind_or_a_reason(tail: bytes) -> None:
    for data in (b"PK\x03\x04" + tail, zipped("[Content_Types].xml", "word/x")[:-22] + tail):
        kind = sniff(data)
        assert kind in KINDS if kind else problem(data, "")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("refund-policy.txt", "Refund Policy"),
        ("GDPR_faq  2024.md", "GDPR Faq 2024"),
        ("größe.txt", "Größe"),
        ("a.b.txt", "A.b"),
        ("__.txt", "__.txt"),
    ],
)
def test_a_title_from_the_name(name: str, title: str) -> None:
    assert title_from_name(name) == title
