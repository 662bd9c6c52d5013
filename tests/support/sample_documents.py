"""Real documents of every format, built as bytes: the same call gives the same bytes.

docx(Heading("Leave"), "Twenty days a year.", Table((("Grade", "Days"), ("A", "20"))))
pptx(Slide("Plan", ("Hire two",), notes="Say why."))
xlsx({"Budget": [("Region", "Revenue"), ("EMEA", 12)]})
pdf("The first page.", Scan("A picture of words."), title="Report")
"""

from __future__ import annotations

import csv as csv_format
import io
import re
import textwrap
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from PIL import Image, ImageDraw, ImageFont

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 1


@dataclass(frozen=True)
class Bullet:
    text: str


@dataclass(frozen=True)
class Table:
    rows: Rows


@dataclass(frozen=True)
class Slide:
    """A slide: its title, its body a line each, what the speaker says."""

    title: str = ""
    body: tuple[str, ...] = ()
    notes: str = ""
    table: Rows = ()
    hidden: bool = False


@dataclass(frozen=True)
class Scan:
    """A page that is a picture of its words."""

    text: str


Block = str | Heading | Bullet | Table


def docx(*blocks: Block, title: str = "") -> bytes:
    """A Word document; ``title`` is the one of its properties."""
    import docx as library

    document = library.Document()
    document.core_properties.title = title
    for block in blocks:
        if isinstance(block, Heading):
            document.add_heading(block.text, block.level)
        elif isinstance(block, Bullet):
            document.add_paragraph(block.text, style="List Bullet")
        elif isinstance(block, Table):
            table = document.add_table(len(block.rows), max(map(len, block.rows)))
            _fill(table, block.rows)
        else:
            document.add_paragraph(block)
    return _saved(document)


def word_body(xml: str) -> bytes:
    """A Word document with these elements as its body; see ``word_run``."""
    names = (
        'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
        'xmlns:v="urn:schemas-microsoft-com:vml"'
    )
    body = f"<w:document {names}><w:body>{xml}</w:body></w:document>".encode()
    return changed(docx("x"), {"word/document.xml": body})


def word_run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def pptx(*slides: Slide, title: str = "") -> bytes:
    """A presentation; ``title`` is the one of its properties."""
    import pptx as library
    from pptx.util import Inches

    deck = library.Presentation()
    deck.core_properties.title = title
    for slide in slides:
        page = deck.slides.add_slide(deck.slide_layouts[1])
        heading, body = page.shapes.title, page.placeholders[1]
        heading.text_frame.text = slide.title
        body.text_frame.text = "\n".join(slide.body)
        if slide.table:
            size = (len(slide.table), max(map(len, slide.table)))
            place = (Inches(1), Inches(5), Inches(6), Inches(1))
            _fill(page.shapes.add_table(*size, *place).table, slide.table)
        if slide.notes:
            page.notes_slide.notes_text_frame.text = slide.notes
        if slide.hidden:
            page._element.set("show", "0")
    return _saved(deck)


def xlsx(sheets: Mapping[str, Rows], title: str = "") -> bytes:
    """A workbook; numbers, dates and booleans stay what they are, None leaves a cell empty."""
    import openpyxl  # type: ignore[import-untyped]

    book = openpyxl.Workbook(write_only=True)
    book.properties.title = title or None
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return _saved(book)


def csv(rows: Rows, delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    out = io.StringIO()
    csv_format.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue().encode(encoding)


def html(
    *blocks: Block, title: str = "", head: str = "", before: str = "", after: str = ""
) -> bytes:
    """A page with its blocks in <main>; the rest is HTML around it, such as a menu."""
    main = "\n".join(map(_html_block, blocks))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title>{head}</head>\n<body>{before}<main>\n{main}\n</main>{after}</body></html>\n"
    ).encode()


def epub(chapters: Mapping[str, Sequence[Block]], title: str = "A book") -> bytes:
    """An EPUB 3; a chapter's name is its title in the table of contents and its first heading."""
    names = [f"chapter{number}.xhtml" for number in range(1, len(chapters) + 1)]
    files = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/content.opf": _package(names, title),
        "OEBPS/nav.xhtml": _xhtml(title, _contents(dict(zip(names, chapters, strict=True)))),
    }
    for name, (chapter, blocks) in zip(names, chapters.items(), strict=True):
        body = "\n".join(map(_html_block, (Heading(chapter), *blocks)))
        files[f"OEBPS/{name}"] = _xhtml(chapter, body)
    return zipped(files)


def pdf(*pages: str | Scan, title: str = "", password: str = "") -> bytes:
    """A PDF with a page for each; ``password`` is what opening it takes."""
    from reportlab.lib.pagesizes import A4  # type: ignore[import-untyped]
    from reportlab.lib.utils import ImageReader  # type: ignore[import-untyped]
    from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1, encrypt=password or None)
    canvas.setTitle(title)
    for page in pages:
        if isinstance(page, Scan):
            picture = ImageReader(io.BytesIO(png(page.text)))
            canvas.drawImage(picture, 0, 0, *A4)
        else:
            lines = canvas.beginText(72, A4[1] - 72)
            lines.textLines("\n".join(_wrapped(page, 85)))
            canvas.drawText(lines)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def png(text: str, width: int = 1240, height: int = 1754) -> bytes:
    """A picture of a page of A4 at 150 dots an inch with ``text`` in black on white."""
    picture = Image.new("L", (width, height), 255)
    font = ImageFont.load_default(size=32)
    ImageDraw.Draw(picture).multiline_text((120, 120), "\n".join(_wrapped(text, 55)), 0, font)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of ``files`` in their order, names as given, ``mimetype`` stored as EPUB wants it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            stored = name == "mimetype"
            entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(data: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """The zip ``data`` with some files put in or, where None, left out."""
    files: dict[str, bytes | None] = {**unzipped(data), **changes}
    return zipped({name: content for name, content in files.items() if content is not None})


def one_of_each(sentence: str) -> dict[str, bytes]:
    """A small document of each kind, by file name, with ``sentence`` in it."""
    return {
        "note.txt": f"A note.\n\n{sentence}\n".encode(),
        "guide.md": f"# Guide\n\n## Rules\n\n{sentence}\n".encode(),
        "page.html": html(Heading("Guide"), Heading("Rules", 2), sentence, title="Guide"),
        "report.pdf": pdf("The first page says little.", sentence, title="Report"),
        "manual.docx": docx(Heading("Manual"), Heading("Rules", 2), sentence),
        "deck.pptx": pptx(Slide("Start", ("Hello",)), Slide("Rules", (sentence,))),
        "book.xlsx": xlsx({"Rules": [("Number", "Rule"), (1, "None"), (2, sentence)]}),
        "table.csv": csv([("Number", "Rule"), (1, "None"), (2, sentence)]),
        "novel.epub": epub({"Start": ["It begins."], "Rules": [sentence]}, title="Novel"),
    }


# python-docx writes the time of writing into the zip, openpyxl into the properties as well
_WRITTEN = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


def _saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    files = unzipped(out.getvalue())
    core = files["docProps/core.xml"]
    files["docProps/core.xml"] = _WRITTEN.sub(rb"\g<1>2026-01-01T00:00:00Z", core)
    return zipped(files)


def _fill(table: Any, rows: Rows) -> None:
    for row, values in zip(table.rows, rows, strict=True):
        for cell, value in zip(row.cells, values, strict=False):
            cell.text = str(value)


def _wrapped(text: str, width: int) -> Iterable[str]:
    for line in text.splitlines():
        yield from textwrap.wrap(line, width) or [""]


def _html_block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    if isinstance(block, Bullet):
        return f"<ul><li>{escape(block.text)}</li></ul>"
    if isinstance(block, Table):
        rows = (
            "".join(f"<td>{escape(str(cell))}</td>" for cell in row).join(("<tr>", "</tr>"))
            for row in block.rows
        )
        return f"<table>{''.join(rows)}</table>"
    return f"<p>{escape(block)}</p>"


_CONTAINER = b"""<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>
"""


def _package(names: Sequence[str], title: str) -> bytes:
    page = 'media-type="application/xhtml+xml"'
    items = "".join(f'<item id="c{n}" href="{name}" {page}/>' for n, name in enumerate(names))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(names)))
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">helix</dc:identifier>
<dc:title>{escape(title)}</dc:title><dc:language>en</dc:language>
<meta property="dcterms:modified">2026-01-01T00:00:00Z</meta></metadata>
<manifest><item id="nav" href="nav.xhtml" properties="nav" {page}/>{items}</manifest>
<spine>{spine}</spine></package>
""".encode()


def _contents(chapters: Mapping[str, str]) -> str:
    links = "".join(
        f'<li><a href="{name}">{escape(title)}</a></li>' for name, title in chapters.items()
    )
    return f'<nav epub:type="toc"><ol>{links}</ol></nav>'


def _xhtml(title: str, body: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{escape(title)}</title></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    ).encode()
