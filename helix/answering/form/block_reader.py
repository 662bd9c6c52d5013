"""An answer in the schema form, read while it streams and handed on as plain text with markers."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from helix.answering.form.blocks import Block, Code, Prose, Row
from helix.answering.form.json_reader import JsonEvent, JsonReader, Malformed
from helix.answering.form.schema import CODE, KINDS, LIST_ITEM, MOST_SOURCES, PARAGRAPH, TABLE_ROW
from helix.domain.contract import REFUSAL
from helix.errors import UpstreamError


class BlockWriter:
    """Writes blocks one after another: open, feed and cite, close; ``end`` after the last.

    Paragraphs, lists, tables and code stand apart by a blank line; list items and table rows follow
    each other line by line. The first of several rows becomes the header of a table. ``known``: how
    many sources there are.
    """

    def __init__(self, known: int) -> None:
        self.wrote = False
        self._known = known
        self._block: Block = Prose(known)
        self._kind = ""
        self._kind_before = ""
        self._inside = False  # something of the present block was written
        self._header: Row | None = None  # a row that waits for a second one
        self._in_table = False

    def open(self, kind: str) -> str:
        """Begin a block of ``kind``; the text that was waiting for it to begin."""
        given = "" if kind == TABLE_ROW else self._table_end()
        self._kind, self._inside = kind, False
        self._block = _MADE.get(kind, Prose)(self._known)
        return given

    def feed(self, text: str) -> str:
        return self._placed(self._block.feed(text))

    def cite(self, sources: Sequence[int]) -> str:
        return self._placed(self._block.cite(sources))

    def close(self) -> str:
        """The rest of the block."""
        rest = self._block.close()
        if isinstance(self._block, Row):
            return self._row(self._block)
        return self._placed(rest)

    def end(self) -> str:
        """The rest of the answer."""
        return self._table_end()

    def _placed(self, text: str) -> str:
        """``text`` of the present block, behind what stands between it and the one before."""
        if not text or self._inside:
            return text
        together = self._kind == self._kind_before and self._kind in (LIST_ITEM, TABLE_ROW)
        gap = ("\n" if together else "\n\n") if self.wrote else ""
        self.wrote = self._inside = True
        self._kind_before = self._kind
        return gap + text

    def _row(self, row: Row) -> str:
        """A row that was read whole; the first of a table waits for the second."""
        if not row.says:  # or the line below the header, which is made here
            return ""
        if self._in_table:
            return self._placed(row.marked)
        header, self._header = self._header, row
        if header is None:
            return ""
        self._header, self._in_table = None, True
        return self._placed(f"{header.bare}\n{header.underline}\n{row.marked}")

    def _table_end(self) -> str:
        """A single row is no table."""
        row, self._header, self._in_table = self._header, None, False
        return self._placed(row.marked) if row else ""


_MADE: dict[str, Callable[[int], Block]] = {
    LIST_ITEM: lambda known: Prose(known, "- "),
    CODE: lambda _: Code(),
    TABLE_ROW: Row,
}


_BLOCK = ("blocks", "*")
_KIND, _TEXT, _SOURCES = (*_BLOCK, "kind"), (*_BLOCK, "text"), (*_BLOCK, "sources")
_SOURCE = (*_SOURCES, "*")
_FENCE = re.compile(r"\s*(?:```(?:json)?\s*)?(?=\{)", re.IGNORECASE)
_MOST_REPEATS = 2
"""Blocks in succession that say what the answer has already, before the model is not read on: a
small one would go on so to the end of its context."""
_MAY_BE_FENCE = re.compile(r"\s*(?:`{0,2}|```(?:j?|js|jso|json)\s*)\Z", re.IGNORECASE)


class WrongForm(UpstreamError):
    """The model did not keep to the schema, so its server did not hold it to that."""


class BlockReader:
    """Reads one answer; feed it the model's deltas, send what it gives, and at the end the rest.

    ``sources``: how many there are. What is given, joined, does not depend on how the answer was
    cut into deltas. The keys of a block may come in any order: text waits for its kind, and behind
    its first sentence for its sources. Numbers that no source has are left out. A paragraph or list
    item that has the very text of an earlier block is left out too. An empty list, and one whose
    blocks say nothing, is the refusal. An answer that does not begin as JSON comes from a server
    that does not know schemas, and is handed on as it is.
    """

    def __init__(self, sources: int) -> None:
        self._known = sources
        self._json = JsonReader()
        self._writer = BlockWriter(sources)
        self._start: str | None = ""  # None once it is known that JSON comes, or that none does
        self._plain = False
        self._has_list = False
        self._kind = ""
        self._opened = False  # the writer has the block: its kind is known
        self._text = ""  # that waits for the kind, or may be an earlier block's again
        self._read = ""  # all text of the block
        self._earlier: list[str] = []
        self._repeats = 0
        self._numbers: list[int] = []
        self._cited: list[int] | None = None  # None until all numbers are read

    def feed(self, delta: str) -> str:
        """The text that can be sent now.

        Raises:
            WrongForm: the answer is not in the form that was asked for.
        """
        if self._start is not None:
            delta = self._begun(self._start + delta)
        if self._plain:
            return delta
        try:
            return "".join(map(self._take, self._json.feed(delta)))
        except Malformed:
            raise WrongForm(
                "the model did not answer in the form of its schema: try again,"
                " or set HELIX_ANSWER_FORM=text"
            ) from None

    @property
    def repeats(self) -> bool:
        """True once the model says over again what it has said: nothing more is to be read."""
        return self._repeats >= _MOST_REPEATS

    def end(self) -> str:
        """The rest of an answer whose stream ended as it should, or that is not read on.

        Raises:
            UpstreamError: its JSON is not whole.
        """
        if self._plain or self._start is not None:
            return self._start or ""
        if not (self.repeats or (self._json.done and self._has_list)):
            raise UpstreamError("the model ended its answer before it was finished: try again")
        rest = self._writer.end()
        return rest if self._writer.wrote else REFUSAL

    def _begun(self, start: str) -> str:
        """The readable part of an answer that begins with ``start``."""
        if fence := _FENCE.match(start):
            self._start = None
            return start[fence.end() :]
        if _MAY_BE_FENCE.match(start):
            self._start = start
            return ""
        self._start, self._plain = None, True
        return start

    def _take(self, event: JsonEvent) -> str:
        """The text that can be sent behind ``event``."""
        kind, path, value = event
        if path == _BLOCK[:1]:
            self._has_list = self._has_list or value == "["
        elif path == _BLOCK and kind in ("open", "close"):
            return self._begin() if kind == "open" else self._end_block()
        elif path == _KIND:
            self._kind += str(value or "")
            return self._open() if kind == "end" else ""
        elif path == _TEXT and kind == "piece":
            return self._written(str(value))
        elif path == _SOURCES and kind == "close":
            self._cited = self._numbers[:MOST_SOURCES]
            return self._writer.cite(self._cited) if self._opened else ""
        elif path == _SOURCE and kind == "value":
            self._number(value)
        return ""

    def _begin(self) -> str:
        self._kind, self._text, self._read, self._opened = "", "", "", False
        self._numbers, self._cited = [], None
        return ""

    def _open(self) -> str:
        """Hand the block to the writer, with what was read of it before its kind."""
        if self._opened:
            return ""
        self._opened = True
        given = self._writer.open(self._kind if self._kind in KINDS else PARAGRAPH)
        given += self._written("")
        return given + (self._writer.cite(self._cited) if self._cited is not None else "")

    def _written(self, text: str) -> str:
        self._read += text
        self._text += text
        if not self._opened or (self._is_prose and self._may_repeat):
            return ""
        text, self._text = self._text, ""
        return self._writer.feed(text)

    @property
    def _is_prose(self) -> bool:
        """Rows of a table and lines of code may be alike."""
        return self._kind in (PARAGRAPH, LIST_ITEM)

    @property
    def _may_repeat(self) -> bool:
        return any(earlier.startswith(self._read) for earlier in self._earlier)

    def _end_block(self) -> str:
        given = self._open()
        if self._read in self._earlier:
            self._repeats += 1
        else:
            self._repeats = 0
            self._earlier.append(self._read)
            given += self._writer.feed(self._text)  # the beginning of an earlier block
        return given + self._writer.close()

    def _number(self, value: object) -> None:
        """Note a source number, unless it is none or there already."""
        if isinstance(value, int) and 1 <= value <= self._known and value not in self._numbers:
            self._numbers.append(value)


async def block_texts(deltas: AsyncGenerator[str, None], sources: int) -> AsyncGenerator[str, None]:
    """The text of an answer in blocks, in non-empty pieces; closes ``deltas``, the model's.

    Raises:
        WrongForm: the answer is not in the form that was asked for.
        UpstreamError: its JSON is not whole.
    """
    reader = BlockReader(sources)
    async with aclosing(deltas):
        async for delta in deltas:
            if text := reader.feed(delta):
                yield text
            if reader.repeats:
                break
        if rest := reader.end():
            yield rest
