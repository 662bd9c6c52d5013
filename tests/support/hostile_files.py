"""Files made to harm: bombs, loops and lies, each as (kind, bytes); nothing is kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from tests.support import sample_documents as documents
from tests.support.hostile_pdf import PDFS
from tests.support.hostile_xml import (
    BODIES,
    deep_docx,
    deep_odt,
    external,
    laughs,
    nested_mails,
    quadratic,
    repeated_cells,
    wide_sheet,
    with_entities,
)
from tests.support.hostile_zips import epub_elsewhere, nested_zip, overlapping, traversal, zip_bomb
from tests.support.sound_files import DOCX, EPUB, ODF, PPTX, XLSX, samples

Hostile = tuple[str, Callable[[], bytes]]

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
        BODIES[one][1].partition("{}")[0].encode() for one in BODIES if one[0] != "epub"
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
