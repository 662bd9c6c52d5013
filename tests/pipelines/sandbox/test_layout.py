"""Tables and pages of a reading process's answer: they arrive as they were, or not at all."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from helix.domain.pages import WordBox, pack_words, unpack_words
from helix.sandbox.frames import HEAD, NoAnswer
from pipelines.readers import ReadText
from pipelines.sandbox import answer, layout
from tests.support.printed_documents import PAGES, TABLE, TEXT

READ = ReadText(TEXT, tables=(TABLE,), pages=PAGES)


def sent(read: ReadText) -> dict[bytes, bytes]:
    """The bodies of the frames of an answer, by kind."""
    frames = answer.frames_of(read, 1000)
    heads = (HEAD.unpack(head)[0] for head in frames[::2])
    return dict(zip(heads, frames[1::2], strict=True))


def received(bodies: dict[bytes, bytes]) -> ReadText:
    return answer.read_text_of(bodies, bytearray(bodies[answer.MARKS]), 1000)


def test_tables_and_pages_arrive_as_they_were() -> None:
    assert received(sent(READ)) == READ


def test_words_come_in_order_and_those_that_cannot_be_are_left_out() -> None:
    kept = [WordBox(0, 7, 1, 1, 9, 2), WordBox(8, 10, 10, 1, 14, 2)]
    impossible = [
        WordBox(3, 3, 1, 1, 9, 2), WordBox(0, len(TEXT) + 1, 1, 1, 9, 2),
        WordBox(0, 7, math.nan, 1, 9, 2), WordBox(0, 7, 1, 1, math.inf, 2),
        WordBox(0, 7, 9, 1, 1, 2), WordBox(0, 7, 1, 2, 9, 1), WordBox(0, 7, 1, 1, 9, 2e6),
    ]  # fmt: skip
    words = pack_words([kept[1], *impossible, kept[0]])
    read = received(sent(replace(READ, pages=(replace(PAGES[0], words=words),))))
    assert list(unpack_words(read.pages[0].words)) == kept


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, 0), (0, 3), (0, "1"), (0, 1.0), (2, 0), (2, math.nan), (2, 2e6), (2, "612"), (3, -1),
        (4, -1), (4, 23), (5, 1000), (5, True), (6, "text"), (6, [3]), (7, -24), (7, 23),
        (7, 10**9), (1, 7),
    ],
)  # fmt: skip
def test_a_page_that_cannot_be_is_refused(place: int, value: Any) -> None:
    bodies = sent(READ)
    marks = json.loads(bodies[answer.MARKS])
    marks["pages"][0][place] = value
    bodies[answer.MARKS] = json.dumps(marks).encode()
    with pytest.raises(NoAnswer, match="marked it wrongly"):
        received(bodies)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, -1), (0, len(TEXT)), (1, len(TEXT) + 1), (2, 0), (2, "2"), (3, 5), (4, None),
        (5, [[3]]), (5, 3), (6, []), (7, [[2, 0, 30, 31]]), (7, [[0, 1, 30, 31]]),
        (7, [[0, 0, 0, 5]]), (7, [[0, 0, 31, 30]]), (7, [[0, 0, 30]]), (7, [[-1, 0, 30, 31]]),
        (7, [[0, 0, 30.0, 31]]), (7, [[False, 0, 30, 31]]), (7, [[0, 0, 30, 10**9]]),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_is_refused(place: int, value: Any) -> None:
    bodies = sent(READ)
    tables = json.loads(bodies[answer.TABLES])
    tables[0][place] = value
    bodies[answer.TABLES] = json.dumps(tables).encode()
    with pytest.raises(NoAnswer, match="marked it wrongly"):
        received(bodies)


@pytest.mark.parametrize(
    "tables", [b"", b"{}", b"null", b"[[]]", b"[3]", b"\xff", b"[" * 9000, b"[1e999]"]
)
def test_what_is_no_list_of_tables_is_refused(tables: bytes) -> None:
    with pytest.raises(NoAnswer, match="marked it wrongly"):
        received(sent(READ) | {answer.TABLES: tables})


def test_tables_come_in_the_order_of_the_text() -> None:
    first = replace(TABLE, start=0, end=5, cells=())
    assert received(sent(replace(READ, tables=(first, TABLE)))).tables == (first, TABLE)
    with pytest.raises(NoAnswer, match="marked it wrongly"):
        received(sent(replace(READ, tables=(TABLE, first))))


@pytest.mark.parametrize("words", [b"x", b"x" * 24])
def test_bytes_that_are_no_pages_are_refused(words: bytes) -> None:
    bodies = sent(READ)
    with pytest.raises(NoAnswer, match="marked it wrongly"):
        received(bodies | {answer.WORDS: bodies[answer.WORDS] + words})
    with pytest.raises(NoAnswer, match="marked it wrongly"):
        received(bodies | {answer.WORDS: b""})


def test_what_is_over_the_bound_is_left_out_and_the_rest_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layout, "MOST_TABLES", len(sent(READ)[answer.TABLES]) + 8)
    monkeypatch.setattr(layout, "_MOST_WORDS", len(PAGES[0].words) // 24 + 1)
    read = received(sent(replace(READ, tables=(TABLE, TABLE))))
    assert read.tables == (TABLE,)
    assert read.pages == (PAGES[0], replace(PAGES[1], words=b""))
    assert read.text == TEXT
