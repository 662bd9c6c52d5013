"""XML made to harm: entities, depth, repetition and far corners; and mails within mails."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.sound_files import DOCX, EPUB, ODF, XLSX, with_part

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def laughs(root: str, body: str) -> bytes:
    """A billion laughs, in the place of {} in ``body``."""
    lines = [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12)]
    return _with_entities(root, '<!ENTITY e0 "lol">' + "".join(lines), body.format("&e11;"))


def quadratic(root: str, body: str) -> bytes:
    long = f'<!ENTITY a "{"a" * 100_000}">'
    return _with_entities(root, long, body.format("&a;" * 20_000))


def external(root: str, body: str, address: str) -> bytes:
    """XML that includes ``address`` in the place of {}, as an entity and by its type definition."""
    return _with_entities(
        root, f'<!ENTITY % d SYSTEM "{address}"> %d; <!ENTITY f SYSTEM "{address}">',
        body.format("before &f; after"),
    )  # fmt: skip


def _with_entities(root: str, declarations: str, body: str) -> bytes:
    head = f'<?xml version="1.0"?><!DOCTYPE {root} [{declarations}]>'
    return (head + body).encode()


_DOCUMENT = ("w:document", f'<w:document xmlns:w="{_W}"><w:body><w:p><w:r><w:t>'
             "{}</w:t></w:r></w:p></w:body></w:document>")  # fmt: skip
_SHEET = ("worksheet", f'<worksheet xmlns="{_S}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is>'
          "<t>{}</t></is></c></row></sheetData></worksheet>")  # fmt: skip
_CHAPTER = ("html", '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>'
            "<p>{}</p></body></html>")  # fmt: skip
_BODY = '<o:document-content xmlns:o="o" xmlns:x="x"><o:body>{}</o:body></o:document-content>'
_TEXT = ("o:document-content", _BODY.replace("{}", "<x:p>{}</x:p>"))
_SHEETS = (
    "<o:spreadsheet><x:table><x:table-row><x:table-cell><x:p>{}</x:p></x:table-cell>"
    "</x:table-row></x:table></o:spreadsheet>"
)
_CELLS = ("o:document-content", _BODY.replace("{}", _SHEETS))
BODIES = {
    ("docx", DOCX): _DOCUMENT, ("xlsx", XLSX): _SHEET, ("epub", EPUB): _CHAPTER,
    ("odt", ODF): _TEXT, ("ods", ODF): _CELLS,
}  # fmt: skip
"""By kind and part: the root's name, and a body with {} in the place of its text."""


def with_entities(kind: str, make: Callable[[str, str], bytes]) -> bytes:
    for (of, name), (root, body) in BODIES.items():
        if of == kind:
            return with_part(kind, name, make(root, body))
    return make(*_CHAPTER)  # html


def deep_docx(depth: int) -> bytes:
    """Tables in tables."""
    opening, closing = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    body = f"{opening * depth}<w:p><w:r><w:t>deep</w:t></w:r></w:p>{closing * depth}"
    whole = f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
    return with_part("docx", DOCX, whole.encode())


def deep_odt(depth: int) -> bytes:
    """Lists in lists."""
    nested = "<x:list><x:list-item>" * depth + "<x:p>deep</x:p>" + "</x:list-item></x:list>" * depth
    return with_part("odt", ODF, _BODY.replace("{}", nested).encode())


def repeated_cells(kind: str) -> bytes:
    """A cell in every place of the largest sheet there can be, by repetition."""
    row = (
        '<x:table-row x:number-rows-repeated="1048576"><x:table-cell x:number-columns-repeated='
        '"16384"><x:p>x</x:p></x:table-cell></x:table-row>'
    )
    sheet = f"<o:spreadsheet><x:table>{row * 2}</x:table></o:spreadsheet>"
    return with_part(kind, ODF, _BODY.replace("{}", sheet).encode())


def nested_mails(kind: str) -> bytes:
    return "".join(f"Content-Type: {kind.format(n)}\n" for n in range(3_000)).encode() + b"deep"


def wide_sheet() -> bytes:
    """Two cells, in opposite corners of the largest sheet there can be."""
    cell = '<row r="{}"><c r="{}" t="inlineStr"><is><t>x</t></is></c></row>'
    cells = cell.format(1, "A1") + cell.format(1048576, "XFD1048576")
    whole = f'<worksheet xmlns="{_S}"><sheetData>{cells}</sheetData></worksheet>'
    return with_part("xlsx", XLSX, whole.encode())
