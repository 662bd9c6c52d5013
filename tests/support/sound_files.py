"""A small, sound file of each kind, and the names of parts that tests put others in place of."""

from __future__ import annotations

from functools import cache

from tests.support import sample_documents as documents
from tests.support.mails import FORWARDED, OUTLOOK
from tests.support.open_documents import odp, ods, odt
from tests.support.sample_documents import Heading, Slide, Table

DOCX = "word/document.xml"
PPTX = "ppt/slides/slide1.xml"
XLSX = "xl/worksheets/sheet1.xml"
EPUB = "OEBPS/chapter1.xhtml"
ODF = "content.xml"


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


def with_part(kind: str, name: str, content: bytes) -> bytes:
    """The file of this kind with ``content`` as its part ``name``."""
    return documents.changed(samples()[kind], {name: content})
