"""Files of Anki as strangers make them: columns of any type, archives damaged in any way."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from helix.errors import BadRequest
from helix.study.formats.anki import notes_of


def _package(folder: Path, fields: list[object], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    path = folder / "collection"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (id, flds)")
        connection.executemany("INSERT INTO notes VALUES (1, ?)", [(each,) for each in fields])
        connection.commit()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as package:
        package.write(path, "collection.anki2")
    return made.getvalue()


def test_what_is_no_text_is_no_note(tmp_path: Path) -> None:
    fields = ["front\x1fback", b"a\x1fb", 5, None, 0.5, "alone"]
    assert notes_of(_package(tmp_path, fields)) == [("front", "back")]


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused(tmp_path: Path, packed: int) -> None:
    package = bytearray(_package(tmp_path, ["front\x1fback"] * 50, packed))
    for start in (46, 60, 90):  # in the head of what is packed, and behind
        damaged = bytearray(package)
        damaged[start : start + 40] = bytes(255 - byte for byte in damaged[start : start + 40])
        with pytest.raises(BadRequest):
            notes_of(bytes(damaged))
