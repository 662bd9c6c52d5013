"""Printed pages to a document: sections under their headings, tables, and every word's box."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from helix.domain.pages import PrintedPage
from pipelines.readers import ReadText
from pipelines.readers.draft import Draft, TableDraft
from pipelines.readers.grids import GridRow
from pipelines.readers.printed.bookmarks import HeadingPath, PageBookmarks
from pipelines.readers.printed.definitions import Role
from pipelines.readers.printed.frame import Boxes, Frame, no_boxes
from pipelines.readers.printed.furniture import Furniture
from pipelines.readers.printed.headings import Heading, Path, Rank
from pipelines.readers.printed.hyphens import Vocabulary
from pipelines.readers.printed.layout import Item, Placed, may_go_on
from pipelines.readers.printed.lines import Line
from pipelines.readers.printed.paragraphs import Block, BlockKind
from pipelines.readers.printed.passages import Passage, Spans
from pipelines.readers.printed.table_word_spans import word_spans, words_of_grid, words_of_rows
from pipelines.readers.printed.tables import FoundTable, rows_below
from pipelines.readers.printed.words import PageWords, Word, WordColumns

_APART = "\n\n"
_MOST_LINES = 4  # of a heading
_WORD = 6  # of four bytes each: start, end, and the edges of the box


@dataclass(slots=True)
class _Page:
    """A page while the document is written: its words' boxes as it is shown, its start in the text,
    and the words that are written."""

    frame: Frame
    furniture: Furniture
    shown: Boxes = field(default_factory=no_boxes)
    start: int = -1
    _spans: Spans = field(default_factory=Spans)
    _boxes: Boxes = field(default_factory=no_boxes)
    _in_order: bool = True

    def place(self, spans: Spans, boxes: Boxes, *, in_order: bool = True) -> None:
        """Words with their spans in the document, in the order of its text or not."""
        placed = self._spans.starts
        self._in_order &= in_order and not (placed and spans and spans.starts[0] < placed[-1])
        self._spans.extend(spans)
        self._boxes.extend(boxes)

    def packed(self) -> bytes:
        """The words as ``helix.domain.pages.pack_words`` packs them, in the order of the text.

        They are let go.
        """
        starts, ends, boxes = self._spans.starts, self._spans.ends, self._boxes
        self._spans, self._boxes = Spans(), no_boxes()
        if not self._in_order:
            written = sorted(range(len(starts)), key=starts.__getitem__)
            starts, ends = (array("I", [column[n] for n in written]) for column in (starts, ends))
            boxes = boxes.chosen(written)
        packed = array("I", bytes(4 * _WORD * len(starts)))
        packed[::_WORD], packed[1::_WORD] = starts, ends
        for place, edges in enumerate(boxes.columns, 2):
            packed[place::_WORD] = array("I", edges.tobytes())
        if sys.byteorder == "big":
            packed.byteswap()
        return packed.tobytes()


class DocumentWriter:
    """Pages one after the other onto a draft. ``finish`` gives the text with its pages."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.draft = Draft()
        self._vocabulary = vocabulary
        self._path = Path()
        self._bookmarked: HeadingPath | None = None
        self._names: dict[HeadingPath, str] = {}
        self._pages: list[_Page] = []
        self._passage: Passage | None = None
        self._last: Placed | None = None
        self._table: tuple[TableDraft, FoundTable] | None = None

    def add_page(
        self,
        page: PageWords,
        words: WordColumns,
        furniture: Furniture,
        items: Sequence[Item],
        bookmarks: PageBookmarks | None = None,
    ) -> None:
        """Add a page's items to the document.

        ``bookmarks`` give the heading paths where the document brings its own. A paragraph that
        goes on from the page before stays in that page's section, so that no sentence is cut; the
        page begins within it.
        """
        self._begin_page(page.frame, furniture, bookmarks)
        paths = (
            _bookmarked_places(bookmarks, items, words) if bookmarks and bookmarks.lead_here else {}
        )
        self._bookmarked = paths.get(-1, self._bookmarked)
        self._pages[-1].shown = page.shown()
        number = len(self._pages)
        first = items[0] if items else None
        goes_on = isinstance(first, Placed) and 0 not in paths and self._goes_on(first, words)
        if goes_on:
            assert isinstance(first, Placed) and self._passage
            self._passage.write(first.block, words, number, "", self._vocabulary)
        if isinstance(next(iter(items[goes_on:]), None), Placed):
            self._close_table()
        self._close_passage()
        for place, item in enumerate(items):
            self._bookmarked = paths.get(place, self._bookmarked)
            if isinstance(item, FoundTable):
                self._add_table(item, words)
            elif place in paths:
                placed = _as_heading(item, words)
                self._names[paths[place]] = placed.block.text(words)
                self._add_block(placed, words)
            elif place or not goes_on:
                self._add_block(item, words)

    def add_text(self, text: str, frame: Frame, bookmarks: PageBookmarks | None = None) -> None:
        """A page whose words have no boxes."""
        self._begin_page(frame, Furniture(), bookmarks)
        self._close_table()
        self._close_passage()
        if text:
            page = len(self._pages)
            start = self.draft.add(
                text, heading_path=self._heading_path, page=page, label=self._label()
            )
            self._note_start(page, start)

    def finish(self, title: str | None) -> ReadText:
        """Raises UnreadableFile where no page has any text."""
        self._close_table()
        self._close_passage()
        read = self.draft.finish(title)
        return replace(read, pages=tuple(self._printed(read.text)))

    @property
    def _heading_path(self) -> tuple[str, ...]:
        if (path := self._bookmarked) is None:
            return self._path.names
        prefixes = accumulate([(name,) for name in path])  # a bookmark may lack the number
        return tuple(self._names.get(prefix, prefix[-1]) for prefix in prefixes)

    def _begin_page(
        self, frame: Frame, furniture: Furniture, bookmarks: PageBookmarks | None
    ) -> None:
        self._pages.append(_Page(frame, furniture))
        if len(self._pages) > 2:  # no paragraph goes on over more than two
            self._pages[-3].shown = no_boxes()
        self._bookmarked = bookmarks.path if bookmarks else None

    def _goes_on(self, placed: Placed, words: WordColumns) -> bool:
        return (
            self._passage is not None
            and self._last is not None
            and may_go_on(self._last, placed, words)
        )

    def _add_block(self, placed: Placed, words: WordColumns) -> None:
        self._close_table()
        page = len(self._pages)
        if placed.heading:
            if self._last is None or not self._last.heading:
                self._close_passage()
            self._path.enter(placed.heading)
            if self._passage:
                self._passage.heading_path = self._heading_path
        if self._passage is None:
            self._passage = Passage(self._heading_path, page, self.draft.next_start)
            self._last = None
        gap = _gap(self._last, placed)
        self._passage.write(placed.block, words, page, gap, self._vocabulary)
        self._last = placed

    def _add_table(self, found: FoundTable, words: WordColumns) -> None:
        self._close_passage()
        page = len(self._pages)
        rows: Sequence[GridRow] = found.grid.rows
        below = None
        if self._table is not None:
            upper = self._table[1]
            below = rows_below(upper, found) if upper.page == page - 1 else None
        if self._table is None or below is None:
            self._close_table()
            self._table = TableDraft(self.draft, found.grid.head, self._heading_path), found
        else:
            rows = below
            self._table = self._table[0], replace(found, grid=self._table[1].grid)
        self._note_start(page, self.draft.length)
        self._table[0].add(rows, page=page, label=self._label())
        written = self._place_table()
        of_table = words_of_grid(found.grid) if below is None else words_of_rows(below)
        if left_out := dict.fromkeys(word for word in of_table if word not in written):
            self._add_left_out(left_out, words)

    def _add_left_out(self, left_out: Collection[Word], words: WordColumns) -> None:
        """Words of a table that its text does not have, such as a header above empty cells."""
        numbers = [number for number, word in enumerate(words) if word in left_out]
        if numbers:
            line = Line(numbers, *words[numbers[0]].box, words[numbers[0]].size, bold=False)
            self._add_block(Placed(Block(BlockKind.PARAGRAPH, [line])), words)

    def _close_table(self) -> None:
        if self._table is not None:
            self._table[0].close()
            self._table = None

    def _close_passage(self) -> None:
        """Puts the section that is being written onto the draft."""
        passage, self._passage, self._last = self._passage, None, None
        if passage is None:
            return
        start = self.draft.add(
            passage.text(),
            heading_path=passage.heading_path,
            page=passage.page,
            label=self._label(passage.page),
        )
        self._note_start(passage.page, start)
        for written in passage.written():
            self._note_start(written.page, start + written.offset)
            page = self._pages[written.page - 1]
            page.place(written.spans, page.shown.chosen(written.numbers))

    def _place_table(self) -> set[Word]:
        """Gives the words of the table's rows that were written last their boxes; which those are
        and the footnote marks beside them."""
        landed = self.draft.landed
        start = min((landing.start for landing in landed), default=self.draft.length)
        pages, written = word_spans(landed, self.draft.tail(start), start)
        for number, found in pages.items():
            spans, boxes = found.arrays()
            page = self._pages[number - 1]
            page.place(spans, page.frame.shown(boxes), in_order=False)
        landed.clear()
        return written

    def _note_start(self, page: int, start: int) -> None:
        if self._pages[page - 1].start < 0:
            self._pages[page - 1].start = start

    def _label(self, page: int | None = None) -> str:
        number = page or len(self._pages)
        printed = self._pages[number - 1].furniture.label
        is_other = printed not in ("", str(number))
        return f"page {number} (printed {printed})" if is_other else f"page {number}"

    def _printed(self, text: str) -> Iterator[PrintedPage]:
        """The pages with their spans, which lie one after the other in the text."""
        starts = [page.start for page in self._pages]
        following = len(text)
        ends = []
        for index in range(len(starts) - 1, -1, -1):
            start = starts[index]
            ends.append(following)
            if start < 0:
                starts[index] = following
            else:
                starts[index] = following = start + _leading_space(text, start)
        for index, (page, start, end) in enumerate(
            zip(self._pages, starts, ends[::-1], strict=True)
        ):
            last = start + len(text[start:end].rstrip())
            frame, furniture = page.frame, page.furniture
            yield PrintedPage(
                index + 1, furniture.label, frame.width, frame.height,
                start, last, furniture.rows, page.packed(),
            )  # fmt: skip


def _leading_space(text: str, start: int) -> int:
    end = start
    while end < len(text) and text[end].isspace():
        end += 1
    return end - start


def _bookmarked_places(
    bookmarks: PageBookmarks, items: Sequence[Item], words: WordColumns
) -> dict[int, HeadingPath]:
    """The places of the items that bookmarks lead to: of headings, else of short blocks too."""
    blocks = [item.block if isinstance(item, Placed) else None for item in items]
    lines = [one.text(words) if one and len(one.lines) <= _MOST_LINES else "" for one in blocks]
    are_headings = [isinstance(item, Placed) and bool(item.heading) for item in items]
    headings = [line * is_one for line, is_one in zip(lines, are_headings, strict=True)]
    return bookmarks.places_in(headings) or bookmarks.places_in(lines)


def _as_heading(placed: Placed, words: WordColumns) -> Placed:
    """A block that a bookmark leads to, which is a heading however it is set."""
    block = placed.block
    rank = Rank(None, block.size, block.is_bold, is_capital=False)
    return Placed(block, placed.heading or Heading(block.text(words), rank))


def _gap(last: Placed | None, placed: Placed) -> str:
    """The text between two blocks of a section: lines of a list are below each other.

    A term with its definition is an item of a list, whose further paragraphs are moved in.
    """
    if placed.role is Role.TERM:
        return ", " if last and last.role is Role.TERM else f"{_APART}- "
    if placed.role is Role.DEFINITION and last and last.role is Role.TERM:
        return ": "
    if last is None or last.heading or placed.heading or not placed.block.is_tight:
        gap = _APART
    else:
        gap = "\n" if last.block.kind is placed.block.kind is BlockKind.ITEM else _APART
    is_within = placed.role is Role.REST and placed.block.kind is not BlockKind.CODE
    return f"{gap}  " if is_within else gap
