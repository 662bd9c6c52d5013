"""PDF files made to harm: loops, lies, bombs and damage, by what they do."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial

from tests.support import sample_documents as documents


def pdf_of(*objects: str, trailer: str = "/Root 1 0 R") -> bytes:
    """Objects numbered from 1, with a right cross-reference table."""
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode()
    start = len(out)
    rows = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}".encode()
    out += f"trailer\n<</Size {len(objects) + 1} {trailer}>>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)


_CATALOG = "<</Type/Catalog/Pages 2 0 R>>"


def _one_page(extra: str, *objects: str) -> bytes:
    pages = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
    return pdf_of(_CATALOG, pages, f"<</Type/Page/Parent 2 0 R{extra}>>", *objects)


def _stream(data: str, extra: str = "") -> str:
    return f"<</Length {len(data)}{extra}>>\nstream\n{data}\nendstream"


def _flate_bomb(size: int) -> bytes:
    """A page whose content unpacks to ``size``, packed twice."""
    packed = zlib.compress(zlib.compress(b"(A) Tj " * (size // 7), 9), 9)
    out = _one_page("/MediaBox[0 0 9 9]/Contents 4 0 R", "@")
    stream = f"<</Length {len(packed)}/Filter[/FlateDecode/FlateDecode]>>\nstream\n".encode()
    return out.replace(b"@", stream + packed + b"\nendstream")


def _sound() -> bytes:
    return documents.pdf("The first page. " * 20, "The second page. " * 20)


_PAGE = "/MediaBox[0 0 9 9]"
_COLOURS = "/BitsPerComponent 8/ColorSpace/DeviceRGB"
PDFS: dict[str, Callable[[], bytes]] = {
    "pdf: encrypted": lambda: documents.pdf("Secret words.", password="unknown"),
    "pdf: cut in half": lambda: _sound()[:700],
    "pdf: only its first line": lambda: b"%PDF-1.7\n",
    "pdf: no end": lambda: _sound().replace(b"startxref", b"startxxxx"),
    "pdf: two billion pages": lambda: pdf_of(
        _CATALOG, "<</Type/Pages/Kids[3 0 R]/Count 2147483647>>", f"<</Type/Page{_PAGE}>>"
    ),
    "pdf: pages that are their own": lambda: pdf_of(
        _CATALOG, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 100000>>"
    ),
    "pdf: one page 100,000 times": lambda: pdf_of(
        _CATALOG,
        f"<</Type/Pages/Kids[{'3 0 R ' * 100_000}]/Count 100000>>",
        f"<</Type/Page{_PAGE}>>",
    ),
    "pdf: a page as large as a country": lambda: _one_page("/MediaBox[0 0 999999999 999999999]"),
    "pdf: a page of no size": lambda: _one_page("/MediaBox[0 0 0 0]"),
    "pdf: a page of no number": lambda: _one_page("/MediaBox[nan 1e999 -1e999 0]"),
    "pdf: arrays in arrays": lambda: _one_page(f"{_PAGE}/X {'[' * 500_000}{']' * 500_000}"),
    "pdf: dictionaries in dictionaries": lambda: _one_page(f"{_PAGE}/X {'<</X' * 300_000}"),
    "pdf: a length that is itself": lambda: _one_page(
        f"{_PAGE}/Contents 4 0 R", "<</Length 4 0 R>>\nstream\nBT ET\nendstream"
    ),
    "pdf: an object that is itself": lambda: _one_page("/MediaBox 4 0 R", "4 0 R"),
    "pdf: a form that draws itself": lambda: _one_page(
        f"{_PAGE}/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>", _stream("/F Do"),
        _stream("/F Do /F Do", "/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>"),
    ),
    "pdf: a catalogue that is a page": lambda: pdf_of("<</Type/Page>>"),
    "pdf: a table that comes before itself": lambda: pdf_of(_CATALOG, "null", trailer="/Prev 9"),
    "pdf: content packed twice": partial(_flate_bomb, 200_000_000),
    "pdf: saves its state a million times": lambda: _one_page(
        f"{_PAGE}/Contents 4 0 R", _stream("q " * 1_000_000)
    ),
    "pdf: a picture larger than memory": lambda: _one_page(
        f"{_PAGE}/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>",
        _stream("9 0 0 9 0 0 cm /I Do"),
        _stream("x", f"/Subtype/Image/Width 60000/Height 60000{_COLOURS}"),
    ),
}  # fmt: skip
