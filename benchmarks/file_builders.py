"""Files to ingest: the same abstracts in every format, built on the fly.

A file of any format holds about the same text: sections of a heading and two abstracts. Tables are
of short rows, as tables are.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import docx
import openpyxl  # type: ignore[import-untyped]
import pptx
from reportlab.lib.styles import getSampleStyleSheet  # type: ignore[import-untyped]
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate  # type: ignore[import-untyped]

Section = tuple[str, list[str]]
"""A heading and its paragraphs."""

Build = Callable[[Sequence[Section]], bytes]

_PARAGRAPHS = 2  # abstracts to a section: about 3,000 characters
_WORDS_A_CELL = 12


def sections(texts: Sequence[str]) -> list[Section]:
    """``texts`` in sections; the first words of the first are the heading."""
    groups = (texts[i : i + _PARAGRAPHS] for i in range(0, len(texts), _PARAGRAPHS))
    return [(_heading(group[0]), [" ".join(text.split()) for text in group]) for group in groups]


def _heading(text: str) -> str:
    return " ".join(text.split()[:8])


def text(given: Sequence[Section]) -> bytes:
    return "\n\n".join("\n\n".join([heading, *rest]) for heading, rest in given).encode()


def markdown(given: Sequence[Section]) -> bytes:
    return "\n\n".join("\n\n".join([f"## {heading}", *rest]) for heading, rest in given).encode()


def html(given: Sequence[Section]) -> bytes:
    body = "".join(
        f"<h2>{escape(heading)}</h2>" + "".join(f"<p>{escape(one)}</p>" for one in rest)
        for heading, rest in given
    )
    title = escape(given[0][0])
    menu = "".join(f'<li><a href="/{i}">Page {i}</a></li>' for i in range(20))
    page = f"<body><nav><ul>{menu}</ul></nav><main><h1>{title}</h1>{body}</main></body>"
    return f"<!DOCTYPE html><html><head><title>{title}</title></head>{page}</html>".encode()


def word(given: Sequence[Section]) -> bytes:
    document = docx.Document()
    for heading, rest in given:
        document.add_heading(heading, 2)
        for one in rest:
            document.add_paragraph(one)
    return _saved(document)


def slides(given: Sequence[Section]) -> bytes:
    """A slide a section: its first paragraph on it, the rest in the notes."""
    deck = pptx.Presentation()
    layout = deck.slide_layouts[1]
    for heading, rest in given:
        slide = deck.slides.add_slide(layout)
        slide.shapes.title.text_frame.text = heading
        slide.placeholders[1].text_frame.text = rest[0]
        slide.notes_slide.notes_text_frame.text = "\n".join(rest[1:])
    return _saved(deck)


def workbook(given: Sequence[Section]) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Papers")
    for row in _rows(given):
        sheet.append(row)
    return _saved(book)


def table(given: Sequence[Section]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(_rows(given))
    return out.getvalue().encode()


def pdf(given: Sequence[Section]) -> bytes:
    """Laid out in lines, a section a page or two."""
    out = io.BytesIO()
    styles = getSampleStyleSheet()
    flow: list[Any] = []
    for heading, rest in given:
        flow.append(Paragraph(escape(heading), styles["Heading2"]))
        flow += [Paragraph(escape(one), styles["BodyText"]) for one in rest]
        flow.append(PageBreak())
    SimpleDocTemplate(out, title=given[0][0]).build(flow)
    return out.getvalue()


def book(given: Sequence[Section]) -> bytes:
    """An EPUB with a chapter a section."""
    out = io.BytesIO()
    names = [f"chapter{number}.xhtml" for number in range(len(given))]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", _CONTAINER)
        archive.writestr("book.opf", _package(given[0][0], names))
        for name, (heading, rest) in zip(names, given, strict=True):
            body = "".join(f"<p>{escape(one)}</p>" for one in rest)
            archive.writestr(name, _CHAPTER.format(heading=escape(heading), body=body))
    return out.getvalue()


BUILDERS: Mapping[str, tuple[str, Build]] = {
    "text": ("txt", text),
    "markdown": ("md", markdown),
    "html": ("html", html),
    "docx": ("docx", word),
    "pptx": ("pptx", slides),
    "xlsx": ("xlsx", workbook),
    "csv": ("csv", table),
    "epub": ("epub", book),
    "pdf": ("pdf", pdf),
}
"""Kind (helix/domain/file_kinds.py) to suffix and builder."""


def write_files(folder: Path, kind: str, texts: Sequence[str], files: int) -> int:
    """``texts`` as ``files`` files of ``kind`` below ``folder``; how many bytes these are."""
    suffix, build = BUILDERS[kind]
    folder.mkdir(parents=True)
    each = -(-len(texts) // files)
    size = 0
    for number in range(files):
        data = build(sections(texts[number * each : (number + 1) * each]))
        (folder / f"{number:05d}.{suffix}").write_bytes(data)
        size += len(data)
    return size


SMALL = ("text", "markdown", "html", "csv")


def write_small_files(folder: Path, texts: Sequence[str], files: int) -> None:
    """Files of one abstract each, no two alike, of SMALL in turn, 100 to a folder."""
    for number in range(files):
        suffix, build = BUILDERS[SMALL[number % len(SMALL)]]
        path = folder / f"{number // 100:03d}" / f"{number:05d}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(build(sections([f"Note {number}. {texts[number % len(texts)]}"])))


def _rows(given: Sequence[Section]) -> Iterator[list[object]]:
    """A header, then a row for each so many words, numbered."""
    yield ["Number", "Paper", "Passage"]
    number = 0
    for heading, rest in given:
        for one in rest:
            words = one.split()
            for start in range(0, len(words), _WORDS_A_CELL):
                number += 1
                yield [number, heading, " ".join(words[start : start + _WORDS_A_CELL])]


def _saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


_CONTAINER = (
    '<?xml version="1.0"?>'
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
_CHAPTER = (
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'
    "<head><title>{heading}</title></head><body><h1>{heading}</h1>{body}</body></html>"
)


def _package(title: str, names: Sequence[str]) -> str:
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names
    )
    order = "".join(f'<itemref idref="{name}"/>' for name in names)
    return (
        '<?xml version="1.0"?>'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">benchmark'
        f"</dc:identifier><dc:title>{escape(title)}</dc:title><dc:language>en</dc:language>"
        f"</metadata><manifest>{items}</manifest><spine>{order}</spine></package>"
    )
