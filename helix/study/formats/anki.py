"""Anki decks: writing a deck as ``.apkg``, and reading the notes of one.

A note's GUID is made of its document, span and front. So a second export of a deck updates the
notes in Anki, which keeps their review history.
"""

from __future__ import annotations

import io
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from hashlib import sha256
from html import escape, unescape
from lzma import LZMAError
from pathlib import Path
from typing import Any

from helix.errors import BadRequest
from helix.library.access import Row
from helix.storage.statements import anki as sql

MOST_NOTES = 5000
_MOST_BYTES = 64 * 2**20
"""The largest unpacked collection of a file; a small archive may unpack to any size."""
_MODEL_ID = 1_607_392_319
_DECKS_FROM = 1_500_000_000
_TAG = re.compile(r"<[^>]{0,500}>")
_COLLECTIONS = ("collection.anki21", "collection.anki2")
_NEWER = "collection.anki21b"  # Zstandard; beside it the older ones say "update Anki"
_DAMAGED = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error, LZMAError
)  # fmt: skip
"""The errors that an archive gives, by how it is packed and where it is damaged."""
_CARD = '<div class="front">{{Front}}</div>'
_ANSWER = '{{FrontSide}}<hr id="answer">{{Back}}<div class="source">{{Source}}</div>'
_STYLE = ".card { font-family: sans-serif; font-size: 20px; } .source { font-size: 13px; }"


def guid_of(item: Row) -> str:
    """The GUID of a card, the same at every export."""
    source: Row = item["sources"][0] if item["sources"] else {}
    place = (source.get("document_id"), source.get("start"), source.get("end"))
    return sha256(repr((place, item["body"]["front"])).encode()).hexdigest()[:20]


def to_anki(title: str, deck: int, items: Sequence[Row]) -> bytes:
    """The cards of a set as an ``.apkg`` file."""
    import genanki  # here, for only an export needs it

    model = genanki.Model(
        _MODEL_ID,
        "Helix card with its source",
        fields=[{"name": "Front"}, {"name": "Back"}, {"name": "Source"}],
        templates=[{"name": "Card", "qfmt": _CARD, "afmt": _ANSWER}],
        css=_STYLE,
    )
    anki_deck: Any = genanki.Deck(_DECKS_FROM + deck, title or f"Helix {deck}")
    for item in items:
        body, source = item["body"], cited(item)
        fields = [escape(body["front"]), escape(body["back"]), escape(source)]
        anki_deck.add_note(genanki.Note(model=model, fields=fields, guid=guid_of(item)))
    buffer = io.BytesIO()
    genanki.Package(anki_deck).write_to_file(buffer)
    return buffer.getvalue()


def cited(item: Row) -> str:
    """The source of a card as a line for people: title, place and sentence."""
    if not item["sources"]:
        return ""
    source = item["sources"][0]
    place = ", ".join(filter(None, (source["title"], source["label"])))
    return f"{place}: “{source['quote']}”"


def notes_of(data: bytes) -> list[tuple[str, str]]:
    """Front and back of the notes of an ``.apkg`` file, without their markup.

    The collection is a SQLite database from a stranger: it is opened read-only, nothing in it may
    run, and only the table of notes is read.

    Raises:
        BadRequest: it is no ``.apkg`` file, or of a format that only Anki reads.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "collection.db"
        path.write_bytes(_collection(data))
        try:
            rows = _rows(path)
        except sqlite3.Error:
            raise BadRequest("the collection in this .apkg file cannot be read") from None
    notes = [[_plain(field) for field in fields.split("\x1f")] for (fields,) in rows]
    return [(note[0], note[1]) for note in notes if len(note) > 1 and note[0] and note[1]]


def _collection(data: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = [name for name in _COLLECTIONS if name in package.namelist()]
            if not names or _NEWER in package.namelist():
                raise BadRequest("this .apkg file has no collection that can be read here: export"
                                 " it from Anki with “Support older Anki versions”")  # fmt: skip
            with package.open(names[0]) as file:
                content = file.read(_MOST_BYTES + 1)
    except _DAMAGED:
        raise BadRequest("this is no .apkg file") from None
    if len(content) > _MOST_BYTES:
        raise BadRequest(f"the collection is larger than {_MOST_BYTES // 2**20} MB unpacked")
    return content


def _rows(path: Path) -> list[Any]:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            connection.execute(f"PRAGMA {pragma}")
        steps = iter(range(2000))
        connection.set_progress_handler(lambda: int(next(steps, None) is None), 10_000)
        kind = connection.execute(sql.NOTES_ARE).fetchone()
        if kind != ("table",):
            raise BadRequest("the collection in this .apkg file has no notes")
        cursor = connection.execute(sql.FIELDS, (MOST_NOTES,))
        return cursor.fetchall()
    finally:
        connection.close()


def _plain(field: object) -> str:
    return " ".join(unescape(_TAG.sub(" ", str(field))).replace("\0", "").split())
