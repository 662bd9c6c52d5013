"""The sentences of any text as exact character spans, and the units that answers may quote.

Rules instead of a trained model or NLTK's data files: they need no download, treat every script
that marks its sentences, and run in linear time on any input (possessive patterns and bounded
look-behind, so a 50 MB line of full stops costs no more than prose).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from helix.language.word_lists import word_lists

Span = tuple[int, int]

_CLOSERS = r"\"'”’»›)\]}）］｝」』】〉》*_"
_BEFORE_SPACE = _CLOSERS + "“‘«‹"  # these too close where a space follows, in German
_OPENERS = r"\"'“‘«‹(\[{（［｛「『【〈《*_¿¡$€£¥"

_CANDIDATE = re.compile(
    # A stop of a script that writes no space after it.
    rf"(?P<cjk>[。！？｡]++[{_CLOSERS}]*+)"
    # Any other stop, what closes after it, and a reference mark: `end.[3] Next`, `end.¹ Next`.
    # It is tried at the first stop of a run only, or a run of n would cost n² steps.
    r"|(?P<stop>(?<![.!?…؟۔।॥։።။។])[.!?…؟۔।॥։።။។]++)"
    rf"(?P<tail>[{_BEFORE_SPACE}]*+(?:[ \u00a0\u202f][»›](?=\s|\Z))?"  # « Oui. » in French
    r"(?>(?:\ ?\[\d{1,4}(?:[,\-–]\ ?\d{1,4}){0,8}\]|[¹²³⁰-⁹]){0,8}))"
    r"(?=\s|\Z)"
    r"|(?P<line>(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])\s*+)"
)
_LINE_END = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NEXT_WORD = re.compile(rf"\s*+[{_OPENERS}]{{0,4}}(\w[\w'’]{{0,24}})?")
_VISIBLE = re.compile(r"\S")

# A line that starts something of its own: a list item, a heading, a table row, a rule, a fence.
_ITEM = re.compile(
    r"(?:[-*+•‣◦▪●○■□·–—]\s|\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5}|[IVXLC]{2,5})[.)]\s"
    r"|\([A-Z]\)\s|#{1,6}\s|\||>\s|[-=_*~]{3,}+\s*+$|```|~~~|§)",
    re.MULTILINE,
)
_HEADING = re.compile(r"#{1,6}\s|```|~~~|[-=_*~]{3,}+\s*+$", re.MULTILINE)
_NUMERAL = re.compile(r"[A-Z]{0,2}\d.*|[IVXLC]+")
_MARKER = re.compile(r"#|\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5}|[IVXLC]{2,5})")
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}|[A-ZÀ-ÖØ-ÞЁА-Я]")

_TERM = re.compile(r"(?!\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5}|[IVXLC]{2,5})[.)]\s)-{0,2}[^\W_]")
_GAP = re.compile(r" {2}|\t")
# Where a line begins, and its first gap: two columns that nothing else tells apart.
_COLUMNS = re.compile(r"([ \t]*+)\S++(?>(?: \S++)*)(?:([ \t]++)(?=\S))?")
_WIDE = 4  # characters of a gap: those of a justified line are narrower
_SHORTEST_BROKEN = 40  # characters of a line that is broken to go on moved in
_MOVED_IN = 2  # columns
_FARTHEST = 200  # characters of a line in which its second column begins

# A row of a table: between bars, or cells with a bar between each two.
_BARRED_ROW = re.compile(r"\|(?:\s|[^\n]{0,2000}\|[ \t\r]*+$)", re.MULTILINE)
_FIRST_CELL = re.compile(r"([^|\n]{1,300}?) \| ")
_NAMED_CELL = re.compile(r"[^.!?…()\[\]]{1,120}?: ")
_SENTENCE_OR_OPEN = re.compile(r"(?<!\b[A-Z])[.!?…][\"'”’)]?\s|[(\[{][^)\]}]*$|^[^`]*`[^`]*$")

# A definition of a link in Markdown: `[3.19.0]: https://example.com/compare/3.19.0`.
_LINK = re.compile(r"\[(?!\^)[^\]\n]{1,200}\]: <?(?:[A-Za-z][\w+.-]{0,20}:|#|\.{0,2}/)\S++\Z")

_LISTS = word_lists("sentences")
_NEVER_ENDS = _LISTS["never_ends"]
_BEFORE_NUMBER = _LISTS["before_number"]
_MAY_END = _LISTS["may_end"]
_STARTERS = _LISTS["starters"]
_MONTHS = word_lists("words")["german_months"]
_SHORT = 10_000  # characters: a chunk, or an answer
_WORDLIKE = 4
"""A lower-case word this long before a stop is taken for a word, not for an abbreviation, so
that prose written without capitals still falls into sentences."""


def sentence_spans(text: str) -> list[Span]:
    """Half-open character spans of the sentences, in order.

    They do not overlap, begin and end with visible characters, and together cover every visible
    character. A list item, a heading and a paragraph end a sentence; a line wrapped inside one
    does not. A row of a table (`| a | b |` or `Name: a | Name: b`) is a sentence, whatever is in
    it. Linear time, about 10 MB/s of prose; those of the last 1,024 short texts are kept.
    """
    return list(_kept_spans(text) if len(text) <= _SHORT else _spans(text))


def _spans(text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    start = _skip_space(text, 0)
    for end in _boundaries(text):
        stop = _trim(text, start, end)
        if stop > start:
            spans.append((start, stop))
        start = max(start, _skip_space(text, end))
    if start < len(text):
        spans.append((start, _trim(text, start, len(text))))
    return tuple(spans)


_kept_spans = lru_cache(maxsize=1024)(_spans)


def sentences(text: str) -> list[str]:
    """The texts of sentence_spans."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _skip_space(text: str, position: int) -> int:
    match = _VISIBLE.search(text, position)
    return match.start() if match else len(text)


def _trim(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _boundaries(text: str) -> Iterator[int]:
    """Offsets just after the end of a sentence, ascending."""
    line_start = 0
    has_bars = "|" in text
    in_row = has_bars and _is_row(text, _skip_space(text, 0))
    for match in _CANDIDATE.finditer(text):
        if match.lastgroup == "line":
            was_row, in_row = in_row, has_bars and _is_row(text, match.end())
            if was_row or in_row or _line_ends(text, line_start, match.start(), match.end()):
                yield match.start()
            line_start = match.end()
        elif not in_row and (match["cjk"] or _stop_ends(text, match, line_start)):
            yield match.end()


def _is_row(text: str, start: int) -> bool:
    """True if the line at ``start`` is a row: prose may have a bar too, as in `P(A | B)`."""
    if text.startswith("|", start):
        return _BARRED_ROW.match(text, start) is not None
    cell = _FIRST_CELL.match(text, start)
    if cell is None:
        return False
    return bool(_NAMED_CELL.match(cell[1])) or not _SENTENCE_OR_OPEN.search(cell[1])


def _line_ends(text: str, start: int, end: int, following: int) -> bool:
    """True if the break between the line start:end and the one at ``following`` ends a sentence."""
    width = 2 if text.startswith("\r\n", end) else 1
    if following >= len(text) or _LINE_END.search(text, end + width, following):
        return True
    if _ITEM.match(text, following) or _HEADING.match(text, start, end):
        return True
    if _is_above_moved_in(text, start, end, following):
        return True
    return _broken_early(text, start, end, following) or _aligned(text, end, following)


def _is_above_moved_in(text: str, start: int, end: int, following: int) -> bool:
    """True for a short line of words or an option, under which text is moved in: a term, a heading.

    What a list's item says goes on moved in as well, and so does a line that was broken. A text
    that begins within a line shows nothing of how far that is moved in; but under a heading is a
    term, which has text moved in under it itself.
    """
    if not start and _goes_on(text, following) and not _is_term(text, following):
        return False
    is_short = end - start <= _SHORTEST_BROKEN and text[end - 1].isalnum()
    if not is_short or not _TERM.match(text, start, end) or _GAP.search(text, start, end):
        return False
    return _indent(text, following) >= _indent(text, start) + _MOVED_IN


def _is_term(text: str, start: int) -> bool:
    """True for a line, not the first, right under which text is moved in."""
    end = text.find("\n", start)
    following = _skip_space(text, end) if end >= 0 else len(text)
    is_right_above = following < len(text) and "\n" not in text[end + 1 : following]
    return is_right_above and _is_above_moved_in(text, start, end, following)


def _goes_on(text: str, following: int) -> bool:
    """True if the line at ``following`` begins with a small letter."""
    word = _NEXT_WORD.match(text, following)
    return bool(word and word[1] and word[1][0].islower())


def _indent(text: str, position: int) -> int:
    """The column of the first visible character of a line, which is at ``position``."""
    line = text.rfind("\n", max(0, position - _FARTHEST), position) + 1
    return len(text[line:position].expandtabs())


def _aligned(text: str, end: int, following: int) -> bool:
    """True if the line at ``following`` is a row of columns, below another one.

    Its first gap is wide and ends where that of the line up to ``end`` does, or where that begins,
    which then goes on in the column.
    """
    if not _GAP.search(text, following, following + _FARTHEST):
        return False
    _, column, width = _columns(text, following)
    begin, above, above_width = _columns(text, end)
    wide = max(width, above_width) >= _WIDE
    return bool(width) and wide and column == (above if above_width else begin)


def _columns(text: str, position: int) -> tuple[int, int, int]:
    """The columns where a line's text and its second part begin, and the width of the gap between.

    The line is the one up to or around ``position``. Columns are of characters, with tabs expanded;
    a line without a gap has the width 0.
    """
    start = text.rfind("\n", max(0, position - _FARTHEST), position) + 1
    match = _COLUMNS.match(text, start, start + _FARTHEST)
    if match is None or (not start and position > _FARTHEST):
        return 0, 0, 0
    begin = len(match[1].expandtabs())
    if not match[2]:
        return begin, 0, 0
    column = len(match[0].expandtabs())
    return begin, column, column - len(text[start : match.start(2)].expandtabs())


def _broken_early(text: str, start: int, end: int, following: int) -> bool:
    """True if the line is so short that wrapping cannot have broken it: a title, a label.

    A wrapping editor would have moved the next line's first word up; the margin of two fifths
    leaves room for the ragged lines of proportional type.
    """
    word = _NEXT_WORD.match(text, following)
    if word is None or not word[1] or word[1][0].islower():
        return False
    needed = (end - start) + 1 + len(word[1])
    limit = following + 1 + needed * 5 // 3
    if limit > len(text):
        return False
    return _LINE_END.search(text, following, limit) is None


def _stop_ends(text: str, match: re.Match[str], line_start: int) -> bool:
    following = _NEXT_WORD.match(text, match.end())
    word = following[1] if following else None
    lower = word is not None and word.islower()
    stop = match["stop"]
    if stop[-1] not in ".!?…":
        return True
    before = _token_before(text, match.start())
    if stop != ".":
        return not lower
    if match.start() - line_start <= 6 and _MARKER.fullmatch(text, line_start, match.start()):
        return False
    if not before:
        return word is not None and not lower
    if lower:
        plain = before.isalpha() and before.islower() and len(before) >= _WORDLIKE
        return plain and not match["tail"] and before not in _NEVER_ENDS
    if word is None or following is None:
        return True
    return not _abbreviates(before, word, initial=text.startswith(".", following.end()))


def _token_before(text: str, position: int) -> str:
    window = text[max(0, position - 24) : position]
    if not window or window[-1].isspace():
        return ""
    return window.split()[-1].lstrip("\"'“‘«‹([{")


def _abbreviates(before: str, word: str, *, initial: bool) -> bool:
    """True if ``before.`` is an abbreviation within a sentence that goes on with ``word``.

    ``initial``: the word has a stop of its own, so `A` in `J. A. Hobson` is no article.
    """
    short, next_word = before.casefold(), word.casefold()
    if short in _NEVER_ENDS:
        return True
    if initial and len(before) == len(word) == 1 and (before + word).isalpha():
        return True  # `z. B.`
    if short in _BEFORE_NUMBER:
        return len(word) == 1 or bool(_NUMERAL.fullmatch(word))
    if short in _MAY_END or _INITIALS.fullmatch(before):
        return short != "etc" and (initial or next_word not in _STARTERS)
    return short.isdigit() and len(short) <= 2 and next_word in _MONTHS


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document's text, such as a chunk, under ``headings``, its title first."""

    text: str
    headings: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or row: ``text[start:end]`` of the passage at place ``passage``, from 0.

    ``place`` counts the units of its passage, ``of`` is how many that has.
    """

    text: str
    passage: int
    place: int
    of: int
    start: int
    end: int


def units_of(passages: Sequence[Passage]) -> list[Unit]:
    """The units of all passages, in order; with the definitions of links, which say nothing and
    have the words of what they are named for, they cover every visible character."""
    units: list[Unit] = []
    for number, passage in enumerate(passages):
        spans = [
            span for span in sentence_spans(passage.text) if not _LINK.match(passage.text, *span)
        ]
        units += [
            Unit(passage.text[start:end], number, place, len(spans), start, end)
            for place, (start, end) in enumerate(spans)
        ]
    return units
