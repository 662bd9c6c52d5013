"""OpenDocument files as bytes, with no more in them than other programs than LibreOffice write."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tests.support.sample_documents import Block, Bullet, Heading, Rows, Slide, Table, zipped

_NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation", "svg": "svg-compatible", "meta": "meta", "chart": "chart",
    }.items()
)  # fmt: skip
_NAMES += ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'


def package(
    kind: str,
    body: str,
    *,
    styles: str = "",
    meta: str = "",
    parts: Mapping[str, bytes] | None = None,
) -> bytes:
    """A file of ``kind`` ("text") with these elements in its body, styles and properties."""
    content = (
        f"<office:document-content {_NAMES}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>"
        "</office:body></office:document-content>"
    )
    about = (
        f"<office:document-meta {_NAMES}><office:meta>{meta}</office:meta></office:document-meta>"
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(),
            "content.xml": content.encode(),
            "meta.xml": about.encode(),
            "META-INF/manifest.xml": b"<manifest/>",
            **(parts or {}),
        }
    )


def chart(body: str) -> bytes:
    """The part of a chart."""
    whole = f"<office:document-content {_NAMES}><office:body><office:chart>{body}</office:chart>"
    return f"{whole}</office:body></office:document-content>".encode()


def paragraph(text: str) -> str:
    return f"<text:p>{escape(text)}</text:p>"


def odt(*blocks: Block, title: str = "") -> bytes:
    """A text; ``title`` is the one of its properties."""
    return package("text", "".join(map(_block, blocks)), meta=_title(title))


def ods(sheets: Mapping[str, Rows], title: str = "") -> bytes:
    """Sheets; numbers stay what they are."""
    body = "".join(
        f'<table:table table:name="{escape(name)}">{_rows(rows)}</table:table>'
        for name, rows in sheets.items()
    )
    return package("spreadsheet", body, meta=_title(title))


def odp(*slides: Slide, title: str = "") -> bytes:
    return package("presentation", "".join(map(_slide, slides)), meta=_title(title))


def _title(title: str) -> str:
    return f"<dc:title>{escape(title)}</dc:title>"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f'<text:h text:outline-level="{block.level}">{escape(block.text)}</text:h>'
    if isinstance(block, Bullet):
        return f"<text:list><text:list-item>{paragraph(block.text)}</text:list-item></text:list>"
    if isinstance(block, Table):
        return f"<table:table>{_rows(block.rows)}</table:table>"
    return paragraph(block)


def _rows(rows: Rows) -> str:
    return "".join(f"<table:table-row>{''.join(map(_cell, row))}</table:table-row>" for row in rows)


def _cell(value: object) -> str:
    told = ""
    if isinstance(value, int | float):
        told = f' office:value-type="float" office:value="{value}"'
    text = "" if value is None else paragraph(str(value))
    return f"<table:table-cell{told}>{text}</table:table-cell>"


def _slide(slide: Slide) -> str:
    body = "".join(map(paragraph, slide.body))
    notes = _frame("notes", paragraph(slide.notes)) if slide.notes else ""
    return (
        f"<draw:page>{_frame('outline', body, 5)}{_frame('title', paragraph(slide.title), 1)}"
        f"<presentation:notes>{notes}</presentation:notes></draw:page>"
    )


def _frame(kind: str, text: str, top: int = 0) -> str:
    return (
        f'<draw:frame presentation:class="{kind}" svg:x="1cm" svg:y="{top}cm">'
        f"<draw:text-box>{text}</draw:text-box></draw:frame>"
    )
