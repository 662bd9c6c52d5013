"""Files made to harm: bombs, loops, lies and damage, each as (kind, bytes); nothing is kept."""

from __future__ import annotations

import io
import random
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from html import escape

from tests.support import sample_documents as documents
from tests.support.hostile_pdf import PDFS
from tests.support.mails import FORWARDED, OUTLOOK
from tests.support.open_documents import odp, ods, odt
from tests.support.sample_documents import Heading, Slide, Table

Hostile = tuple[str, Callable[[], bytes]]

_BLOCK = 1 << 20
DOCX = "word/document.xml"
PPTX = "ppt/slides/slide1.xml"
XLSX = "xl/worksheets/sheet1.xml"
EPUB = "OEBPS/chapter1.xhtml"
ODF = "content.xml"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@cache
def samples() -> dict[str, bytes]:
    """A small, sound file of each kind."""
    rows = (("Region", "Revenue"), ("EMEA", "12"), ("APAC", "7"))
    blocks = (Heading("Leave"), "Twenty days a year.", Table(rows), "Ask early.")
    markdown = "# Leave\n\nTwenty days.\n\n```sh\nmake\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    return {
        "text": b"Plain words, and more of them.\n\nA second paragraph.\n",
        "markdown": markdown.encode(),
        "html": documents.html(*blocks, title="Handbook"),
        "pdf": documents.pdf("The first page. " * 20, "The second page. " * 20, title="Report"),
        "docx": documents.docx(*blocks),
        "pptx": documents.pptx(Slide("Plan", ("Hire two",), notes="Say why."), Slide("End")),
        "xlsx": documents.xlsx({"Budget": rows, "Plan": rows}),
        "csv": documents.csv(rows),
        "epub": documents.epub({"One": blocks, "Two": ("The end.",)}),
        "odt": odt(*blocks, title="Handbook"),
        "odp": odp(Slide("Plan", ("Hire two",), notes="Say why."), Slide("End")),
        "ods": ods({"Budget": rows, "Plan": rows}),
        "eml": OUTLOOK + FORWARDED,
        "ipynb": _NOTEBOOK,
    }


_NOTEBOOK = b"""{"cells": [{"cell_type": "markdown", "source": ["# Leave\\n", "Twenty days."]},
{"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]}],
"metadata": {"authors": [{"name": "Mara"}]}, "nbformat": 4}"""


def _within(kind: str, name: str, content: bytes) -> bytes:
    return documents.changed(samples()[kind], {name: content})


# --- zips ---------------------------------------------------------------------------------------


@cache
def _deflated(start: bytes, filler: bytes, size: int) -> bytes:
    """``size`` bytes of ``filler`` after ``start``, by one compressed block again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(filler * (_BLOCK // len(filler))) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (size // _BLOCK) + packer.flush()


def zip_bomb(
    kind: str, name: str, size: int, start: bytes = b"", filler: bytes = b"\0", told: int = 1 << 40
) -> bytes:
    """A sound file whose part ``name`` unpacks to ``size`` bytes, ``told`` of them as it says."""
    parts = documents.unzipped(samples()[kind])
    packed = {part: _deflated(data, b"\n", 0) for part, data in parts.items()}
    packed[name] = _deflated(start, filler, size)
    sizes = {part: (zlib.crc32(data), len(data)) for part, data in parts.items()}
    sizes[name] = (0, min(size, told, 0xFFFFFFFE))
    return _zip(packed, sizes, {})


def overlapping(kind: str, name: str, copies: int, size: int) -> bytes:
    """``copies`` more parts beside ``name`` that all share its bytes, of ``size`` unpacked."""
    parts = documents.unzipped(samples()[kind])
    packed = {part: _deflated(data, b"\n", 0) for part, data in parts.items()}
    packed[name] = _deflated(b"", b"A", size)
    sizes = {part: (zlib.crc32(data), len(data)) for part, data in parts.items()}
    sizes[name] = (0, min(size, 0xFFFFFFFE))
    return _zip(packed, sizes, {f"{number}-{name}": name for number in range(copies)})


def _zip(
    packed: Mapping[str, bytes], sizes: Mapping[str, tuple[int, int]], same: Mapping[str, str]
) -> bytes:
    out, central, offsets = bytearray(), bytearray(), {}
    for name, data in packed.items():
        offsets[name] = len(out)
        crc, size = sizes[name]
        local = (20, 0, 8, 0, 33, crc, len(data), size, len(name), 0)
        out += struct.pack("<4s5H3L2H", b"PK\3\4", *local) + name.encode() + data
    entries = {**{name: name for name in packed}, **same}
    for name, at in entries.items():
        crc, size = sizes[at]
        fields = (20, 20, 0, 8, 0, 33, crc, len(packed[at]), size, len(name), 0, 0, 0, 0, 0)
        central += struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields, offsets[at]) + name.encode()
    counts = (0, 0, len(entries), len(entries), len(central), len(out), 0)
    return bytes(out + central + struct.pack("<4s4H2LH", b"PK\5\6", *counts))


def nested_zip(kind: str, name: str, depth: int) -> bytes:
    """Zips in zips in the place of a part."""
    inner = b"0" * 1_000_000
    for _ in range(depth):
        inner = documents.zipped({"0.zip": inner})
    return _within(kind, name, inner)


def traversal(kind: str, target: str) -> bytes:
    """A sound file with parts that want to be elsewhere, or are links to elsewhere."""
    out = io.BytesIO(samples()[kind])
    with zipfile.ZipFile(out, "a") as archive:
        for name in ("../../evil.txt", "/tmp/evil.txt", "..\\evil.txt", f"../{target}", "C:\\evil"):
            archive.writestr(name, "evil")
        link = zipfile.ZipInfo("word/link.xml")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, target)
    return out.getvalue()


def epub_elsewhere(target: str) -> bytes:
    """A book whose chapters are a file outside, as a path, as an address and as a link."""
    book = documents.unzipped(samples()["epub"])
    package = book["OEBPS/content.opf"].decode()
    for number, path in enumerate((f"../../../../../..{target}", f"file://{target}"), start=1):
        package = package.replace(f"chapter{number}.xhtml", escape(path))
    return documents.changed(samples()["epub"], {"OEBPS/content.opf": package.encode()})


# --- XML ----------------------------------------------------------------------------------------


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
_XML = {
    ("docx", DOCX): _DOCUMENT, ("xlsx", XLSX): _SHEET, ("epub", EPUB): _CHAPTER,
    ("odt", ODF): _TEXT, ("ods", ODF): _CELLS,
}  # fmt: skip


def with_entities(kind: str, make: Callable[[str, str], bytes]) -> bytes:
    for (of, name), (root, body) in _XML.items():
        if of == kind:
            return _within(kind, name, make(root, body))
    return make(*_CHAPTER)  # html


def deep_docx(depth: int) -> bytes:
    """Tables in tables."""
    opening, closing = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    body = f"{opening * depth}<w:p><w:r><w:t>deep</w:t></w:r></w:p>{closing * depth}"
    whole = f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
    return _within("docx", DOCX, whole.encode())


def deep_odt(depth: int) -> bytes:
    """Lists in lists."""
    nested = "<x:list><x:list-item>" * depth + "<x:p>deep</x:p>" + "</x:list-item></x:list>" * depth
    return _within("odt", ODF, _BODY.replace("{}", nested).encode())


def repeated_cells(kind: str) -> bytes:
    """A cell in every place of the largest sheet there can be, by repetition."""
    row = (
        '<x:table-row x:number-rows-repeated="1048576"><x:table-cell x:number-columns-repeated='
        '"16384"><x:p>x</x:p></x:table-cell></x:table-row>'
    )
    sheet = f"<o:spreadsheet><x:table>{row * 2}</x:table></o:spreadsheet>"
    return _within(kind, ODF, _BODY.replace("{}", sheet).encode())


def nested_mails(kind: str) -> bytes:
    return "".join(f"Content-Type: {kind.format(n)}\n" for n in range(3_000)).encode() + b"deep"


def wide_sheet() -> bytes:
    """Two cells, in opposite corners of the largest sheet there can be."""
    cell = '<row r="{}"><c r="{}" t="inlineStr"><is><t>x</t></is></c></row>'
    cells = cell.format(1, "A1") + cell.format(1048576, "XFD1048576")
    whole = f'<worksheet xmlns="{_S}"><sheetData>{cells}</sheetData></worksheet>'
    return _within("xlsx", XLSX, whole.encode())


# --- all of them --------------------------------------------------------------------------------

GIF = b"GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"


def hostile(outside: str, bomb: int) -> dict[str, Hostile]:
    """By what they do. ``outside``: the path of a file not to be read; ``bomb``: bytes."""
    found: dict[str, Hostile] = {name: ("pdf", make) for name, make in PDFS.items()}
    for kind, part in (
        ("docx", DOCX), ("pptx", PPTX), ("xlsx", XLSX), ("epub", EPUB), ("odt", ODF), ("odp", ODF),
        ("ods", ODF),
    ):  # fmt: skip
        found |= {
            f"{kind}: zeros": (kind, partial(zip_bomb, kind, part, bomb)),
            f"{kind}: overlapping parts": (
                kind,
                partial(overlapping, kind, part, 200, bomb // 100),
            ),
            f"{kind}: zips in zips": (kind, partial(nested_zip, kind, part, 50)),
            f"{kind}: names and links out of it": (kind, partial(traversal, kind, outside)),
            f"{kind}: zeros it denies": (kind, partial(zip_bomb, kind, part, bomb, told=1000)),
            f"{kind}: cut in half": (kind, partial(_half_of, kind)),
            f"{kind}: a zip of nothing": (kind, lambda: documents.zipped({})),
        }
    for kind in ("docx", "xlsx", "epub", "html", "odt", "ods"):
        found |= {
            f"{kind}: a billion laughs": (kind, partial(with_entities, kind, laughs)),
            f"{kind}: a quadratic entity": (kind, partial(with_entities, kind, quadratic)),
            f"{kind}: an entity from outside": (
                kind, partial(with_entities, kind, partial(external, address=f"file://{outside}"))
            ),
        }  # fmt: skip
    for kind in samples():
        found |= {
            f"{kind}: a picture": (kind, lambda: GIF),
            f"{kind}: nothing": (kind, lambda: b""),
            f"{kind}: noise": (kind, lambda: random.Random(3).randbytes(100_000)),
        }
    return found | _TEXTS | _texts_of(bomb, outside)


def _texts_of(bomb: int, outside: str) -> dict[str, Hostile]:
    document, sheet, text, cells = (
        _XML[one][1].partition("{}")[0].encode() for one in _XML if one[0] != "epub"
    )
    return {
        "docx: a word without an end": (
            "docx",
            partial(zip_bomb, "docx", DOCX, bomb, document, b"A"),
        ),
        "xlsx: a cell without an end": ("xlsx", partial(zip_bomb, "xlsx", XLSX, bomb, sheet, b"A")),
        "odt: a word without an end": ("odt", partial(zip_bomb, "odt", ODF, bomb, text, b"A")),
        "ods: a cell without an end": ("ods", partial(zip_bomb, "ods", ODF, bomb, cells, b"A")),
        "epub: chapters elsewhere": ("epub", partial(epub_elsewhere, outside)),
    }


_TEXTS: dict[str, Hostile] = {
    "docx: tables in tables": ("docx", partial(deep_docx, 20_000)),
    "docx: a few tables in tables": ("docx", partial(deep_docx, 60)),
    "xlsx: cells in far corners": ("xlsx", wide_sheet),
    "odt: lists in lists": ("odt", partial(deep_odt, 20_000)),
    "odt: a few lists in lists": ("odt", partial(deep_odt, 100)),
    "odt: cells without end": ("odt", partial(repeated_cells, "odt")),
    "ods: cells without end": ("ods", partial(repeated_cells, "ods")),
    "eml: mails in mails": ("eml", partial(nested_mails, "message/rfc822\n")),
    "eml: parts in parts": (
        "eml", partial(nested_mails, 'multipart/mixed; boundary="{0}"\n\n--{0}')
    ),
    "eml: a million files": (
        "eml",
        lambda: b'Content-Type: multipart/mixed; boundary="A"\n\n'
        + b'--A\nContent-Disposition: attachment; filename="x"\n\n' * 200_000,
    ),
    "eml: a million people": ("eml", lambda: b"To: " + b"a <a@x>, " * 500_000 + b"\n\nx"),
    "eml: encoded words": ("eml", lambda: b"Subject: " + b"=?utf-8?q?=41?= " * 300_000 + b"\n\nx"),
    "eml: brackets in a head": ("eml", lambda: b"From: " + b"(<" * 200_000 + b"\n\nx"),
    "eml: references": ("eml", lambda: b"References: " + b"<" * 500_000 + b"\n\nx"),
    "ipynb: lists in lists": ("ipynb", lambda: b"[" * 500_000),
    "ipynb: ticks": ("ipynb", lambda: b'{"cells": [{"cell_type": "code", "source": "'
                     + b" ".join(b"`" * n for n in range(1, 1500)) + b'"}], "nbformat": 4}'),
    "html: a million tags deep": ("html", lambda: b"<div>" * 1_000_000 + b"deep"),
    "html: bold in bold": ("html", lambda: b"<p>" + b"<b>" * 100_000 + b"deep"),
    "html: lists in lists": ("html", lambda: b"<ul><li>" * 50_000 + b"deep"),
    "html: tables in tables": ("html", lambda: b"<table><tr><td>" * 20_000 + b"deep"),
    "html: one long tag": ("html", lambda: b"<p " + b"a='b' " * 500_000 + b">x</p>"),
    "html: brackets": ("html", lambda: b"<" * 500_000),
    "html: an unended comment": ("html", lambda: b"<p>x</p>" + b"<!--" * 500_000),
    "markdown: quotes in quotes": ("markdown", lambda: b">" * 100_000 + b" deep"),
    "markdown: brackets": ("markdown", lambda: b"[" * 50_000 + b"a" + b"](b" * 50_000),
    "markdown: stars": ("markdown", lambda: b"*a **a " * 30_000),
    "markdown: ticks": ("markdown", lambda: b" ".join(b"`" * n for n in range(1, 1500))),
    "markdown: lists in lists": (
        "markdown", lambda: b"".join(b"  " * n + b"- x\n" for n in range(1500))
    ),
    "markdown: a fence without end": ("markdown", lambda: b"```\n" + b"code\n" * 400_000),
    "csv: a line of 10 MB": ("csv", lambda: b"a,b\n" + b"x" * 10_000_000 + b",1\n"),
    "csv: a quote without end": ("csv", lambda: b'a,b\n"' + b"x,\n" * 200_000),
    "csv: half a million columns": ("csv", lambda: b",".join([b"x"] * 500_000) + b"\n1,2\n"),
    "csv: only separators": ("csv", lambda: b",,,,\n" * 50_000),
    "text: one line of 20 MB": ("text", lambda: b"word " * 4_000_000),
    "text: half a letter": ("text", lambda: "é".encode()[:1] * 1000),
}  # fmt: skip


def _half_of(kind: str) -> bytes:
    data = samples()[kind]
    return data[: len(data) // 2]


# --- damage -------------------------------------------------------------------------------------


def mutants(count: int, seed: int = 7) -> Iterator[tuple[str, bytes]]:
    """``count`` damaged files of every kind, the same ones for the same seed."""
    chance, sound = random.Random(seed), samples()
    for number in range(count):
        kind = list(sound)[number % len(sound)]
        data = sound[kind]
        for _ in range(chance.randint(1, 3)):
            if data.startswith(b"PK") and chance.random() < 0.7:
                data = _damage_a_part(data, chance, sound)
            else:
                data = _damage(data, chance, sound)
        yield kind, data


def _damage_a_part(data: bytes, chance: random.Random, sound: Mapping[str, bytes]) -> bytes:
    """Damage inside a sound zip: its checksums are right, so that parsers come to see it."""
    try:
        parts = documents.unzipped(data)
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        ValueError,
        EOFError,
    ):
        return _damage(data, chance, sound)
    name = chance.choice(sorted(parts) or [""])
    return documents.zipped(parts | {name: _damage(parts.get(name, b""), chance, sound)})


def _damage(data: bytes, chance: random.Random, sound: Mapping[str, bytes]) -> bytes:
    if not data:
        return chance.randbytes(8)
    start, end = sorted(chance.randrange(len(data) + 1) for _ in "se")
    other = chance.choice(list(sound.values()))
    match chance.randrange(7):
        case 0:
            changed = bytearray(data)
            for _ in range(chance.randint(1, 1 + len(data) // 100)):
                changed[chance.randrange(len(data))] = chance.randrange(256)
            return bytes(changed)
        case 1:
            return data[:end]
        case 2:
            return data[:start] + other[start:end] + data[end:]
        case 3:
            return data[:start] + data[end:]
        case 4:
            return data[:end] + data[start:end] * chance.randint(1, 20) + data[end:]
        case 5:
            return data[:start] + bytes(end - start) + data[end:]
        case _:
            return data.replace(b"1", chance.choice((b"9" * 12, b"-1", b"0", b"", b"<")), 5)
