"""A page's words to what it holds in reading order: blocks of text, headings and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipelines.readers.printed.columns import Hole, in_order
from pipelines.readers.printed.definitions import Role, roles
from pipelines.readers.printed.headings import Heading, heading_of
from pipelines.readers.printed.lines import Line, merged, rows, runs
from pipelines.readers.printed.monospaced import MonospacedWidths
from pipelines.readers.printed.paragraphs import Block, BlockKind, Edges, blocks_of
from pipelines.readers.printed.table_word_spans import words_of_grid
from pipelines.readers.printed.tables import FoundTable
from pipelines.readers.printed.words import PageWords, Word, WordColumns, numbers_of

_CENTRED = 8.0  # points between the middles of two lines of one heading
_MOST_HEADING_LINES = 4

TableFinder = Callable[[Sequence[Word]], Sequence[FoundTable]]


@dataclass(slots=True)
class Placed:
    """A block of text, with the heading that it is where it is one, or its part in a definition."""

    block: Block
    heading: Heading | None = None
    role: Role | None = None


Item = Placed | FoundTable


def laid_out(
    words: WordColumns,
    body: Sequence[int],
    find: TableFinder | None,
    body_size: float,
    widths: MonospacedWidths,
) -> list[Item]:
    """The blocks and tables of the page, in reading order.

    ``body`` are the numbers of the words that are no furniture and stand upright. ``find`` gives
    the tables among such words, None where there cannot be any; ``body_size`` is the size of most
    of the document's text, ``widths`` are those of its code on the pages before.
    """
    tables = find(words.chosen(body)) if find else ()
    left = body
    if taken := {index for table in tables for index in _written(table, words, body)}:
        left = [number for index, number in enumerate(body) if index not in taken]
    pieces: list[Line | Hole[FoundTable]] = []
    pieces += runs(words, left)
    pieces += [Hole(table.left, table.top, table.right, table.bottom, table) for table in tables]
    found: list[Item] = []
    code = widths.of_page([piece for piece in pieces if isinstance(piece, Line)], words)
    for region in in_order(pieces):
        _join_over_columns(found, items := list(_items(region, words, body_size, code)), words)
        found += items
    return found


def _written(table: FoundTable, words: WordColumns, body: Sequence[int]) -> Iterator[int]:
    """The words of the body that the table's text has.

    Others that it takes the place of stay lines of the page: no word is lost.
    """
    used = set(words_of_grid(table.grid))
    return (index for index in table.words if words[body[index]] in used)


def _items(
    region: Sequence[Line | Hole[FoundTable]],
    words: WordColumns,
    body_size: float,
    code: float | None,
) -> Iterable[Item]:
    """The blocks and tables of a region from the top down."""
    pieces = [piece for piece in region if isinstance(piece, Line)]
    holes = sorted(
        (piece for piece in region if isinstance(piece, Hole)), key=lambda hole: hole.top
    )
    if not pieces:
        return [hole.content for hole in holes]
    edges = min(line.left for line in pieces), max(line.right for line in pieces)
    found: list[Item] = []
    lines: list[Line] = []
    for row in rows(pieces):
        line = merged(words, row)
        while holes and holes[0].top < line.top:
            found += _blocks(lines, words, edges, body_size, code)
            found.append(holes.pop(0).content)
            lines = []
        lines.append(line)
    found += _blocks(lines, words, edges, body_size, code)
    return found + [hole.content for hole in holes]


def _blocks(
    lines: Sequence[Line], words: WordColumns, edges: Edges, body_size: float, code: float | None
) -> list[Placed]:
    found: list[Placed] = []
    for block in blocks_of(lines, words, edges, code):
        placed = Placed(block, heading_of(block, words, body_size))
        if found and _is_one_heading(found[-1], placed):
            whole = Block(BlockKind.PARAGRAPH, [*found[-1].block.lines, *block.lines])
            heading = heading_of(whole, words, body_size)
            if heading:
                whole.is_tight = found[-1].block.is_tight
                found[-1] = Placed(whole, heading)
                continue
        found.append(placed)
    for place, role in roles(
        [one.block if not one.heading else None for one in found], words
    ).items():
        found[place].role = role
    return found


def _is_one_heading(upper: Placed, lower: Placed) -> bool:
    """True where two blocks are the lines of one centred heading, broken at its author's wish."""
    if not (upper.heading and lower.heading and lower.block.is_tight):
        return False
    if lower.heading.rank.numbering is not None or upper.block.size != lower.block.size:
        return False
    above, below = upper.block.lines[-1], lower.block.lines[0]
    if len(upper.block.lines) + len(lower.block.lines) > _MOST_HEADING_LINES:
        return False
    apart = abs(above.left + above.right - below.left - below.right) / 2
    return upper.block.is_bold == lower.block.is_bold and apart < _CENTRED


def _join_over_columns(found: list[Item], items: list[Item], words: WordColumns) -> None:
    """A paragraph that goes on at the top of the next column is one block."""
    if not found or not items:
        return
    last, first = found[-1], items[0]
    if isinstance(last, Placed) and isinstance(first, Placed) and may_go_on(last, first, words):
        last.block.lines += first.block.lines
        last.block.is_open = first.block.is_open
        del items[0]


def may_go_on(last: Placed, first: Placed, words: WordColumns) -> bool:
    """True where ``first``, of ``words``, may go on with the paragraph that ``last`` begins."""
    if (
        last.heading
        or first.heading
        or first.block.kind is not BlockKind.PARAGRAPH
        or not last.block.is_open
    ):
        return False
    return first.block.begins_lower(words)


def largest_heading(items: Iterable[Item]) -> str:
    """The text of the heading in the largest letters, the first of several; '' without one."""
    headings = [item.heading for item in items if isinstance(item, Placed) and item.heading]
    return max(headings, key=lambda heading: heading.rank.size).text if headings else ""


def asides(page: PageWords, words: WordColumns) -> list[Item]:
    """The text along the page's margins or upside down, a block a line of the file."""
    found: list[Item] = []
    for number in numbers_of(page.aside):
        word = words[number]
        line = Line([number], *word.box, word.size, word.bold)
        last = found[-1] if found else None
        if isinstance(last, Placed) and _is_near(last.block.lines[-1], line):
            last.block.lines.append(line)
        else:
            found.append(Placed(Block(BlockKind.PARAGRAPH, [line])))
    return found


def _is_near(one: Line, other: Line) -> bool:
    """True where two words along a margin follow each other."""
    reach = 2 * min(one.right - one.left, one.bottom - one.top)
    return (
        other.left - one.right < reach and one.left - other.right < reach
        and other.top - one.bottom < reach and one.top - other.bottom < reach
    )  # fmt: skip
