"""The injection screen: finds instruction-like passages in retrieved text. They stay; it tells.

A chunk is data whatever it says, and the prompt says so to the model; a flag lets people see which
document tried. Hidden writing is read as a model might read it: without invisible characters, with
look-alike letters folded, and one level of Base64, hexadecimal, percent or entity encoding undone.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from helix.answering.guardrails.patterns import (
    BY_WORD,
    KNOWN,
    READ_AS,
    UNSPACED,
    UNSPACED_TRACES,
    Phrase,
    has_digit_in_word,
    has_run,
    lower,
    words_of,
)
from helix.domain.context import Source
from helix.domain.prompt import defuse
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.words import as_seen

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
)
_TAGS = "\U000e0000-\U000e007f"
_DISGUISE = re.compile(
    f"[{_INVISIBLE}{_TAGS}\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9\u0370-\u04ff]"
)
_FURTHER = re.compile(f"[{_INVISIBLE}{_TAGS}\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9]")
_MIXED = re.compile("[A-Za-z][\u0370-\u04ff]|[\u0370-\u04ff][A-Za-z]")
_TAG_RUN = re.compile(f"[{_TAGS}]{{4,}}")
_FLAG_EMOJI = "\U0001f3f4"
_BIT_RUN = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{16,}")
_TURNED = re.compile("[\u202d\u202e]([^\u202c\n]{8,400})")

_RUN = 16  # letters and digits in a row, which any Base64 of some length has
_DIGITS = 24
_BASE64 = re.compile(rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{{{_DIGITS},}}+={{0,2}}")
_HEX = re.compile(r"(?:[0-9a-f]{2})+", re.IGNORECASE)
_PERCENT = re.compile(r"(?>(?:[A-Za-z]{0,20}+%[0-9A-Fa-f]{2}){3,})[A-Za-z]*+")
_ENTITIES = re.compile(r"(?:[\w ,.'-]{0,20}?&#[xX]?[0-9A-Fa-f]{1,6};){6,}")
_LONGEST_DECODED = 4096

_PROSE = frozenset({"override", "role", "format", "citation", "prompt", "judge"})
"""Kinds of phrases that are sentences, which may be cut; the others are marks in one line."""
_LINE_END = re.compile(r"(?<!\n)\r?\n(?![\r\n])")
_IN_PIECES = re.compile(r"(?>(?:\b[^\W\d_]++(?>(?: [^\W\d_]++)?) ?+[.;…|/*+-]{1,3}+\s{0,2}+){2,})")
_BETWEEN_PIECES = re.compile(r"[.;…|/*+\n-]")
_LETTER_BY_LETTER = re.compile(r"(?<!\w)[^\W\d_]([ .*_·-])(?>(?:[^\W\d_]\1)+)(?:[^\W\d_](?!\w))?")
_FEWEST_LETTERS = 6
"""Different letters that are words in a text that may have `I g n o r e   a l l`."""


@dataclass(frozen=True, slots=True)
class Flag:
    """An instruction-like passage: in source ``n``, characters ``[start, end)`` of its document.

    Where the source does not say where it lies, they count from the start of its text. ``kind`` is
    override, role, role tag, tool, judge, format, citation, prompt, exfiltration or delimiter by
    what it says, hidden or encoded by how it says that.
    """

    n: int
    chunk_id: int
    kind: str
    start: int
    end: int


_Span = tuple[int, int, str]
"""Start, end and kind of a passage in a text."""


def screen(sources: Sequence[Source]) -> list[Flag]:
    """The instruction-like passages of ``sources``, which are numbered from 1; in order.

    Passages of one kind that overlap are one. Linear in the text, 0.05 ms or so a chunk.
    """
    flags: list[Flag] = []
    for n, source in enumerate(sources, start=1):
        offset = source.start_char or 0
        for start, end, kind in _passages_of_chunk(source.content):
            chunk_id = _chunk_at(source, offset + start)
            flags.append(Flag(n, chunk_id, kind, offset + start, offset + end))
    return flags


@text_cache(most_bytes=4 * MEBIBYTE, bytes_a_character=0.1)
def _passages_of_chunk(text: str) -> tuple[_Span, ...]:
    """A chunk is retrieved again and again: what is found in it is kept."""
    return tuple(_merged(passages(text)))


def passages(text: str) -> Iterator[_Span]:
    """Every instruction-like passage of one text, in no order; they may overlap."""
    low = lower(text)
    words = words_of(low)
    possible = _possible(text, words)
    yield from _found(text, possible)
    if prose := [phrase for phrase in possible if phrase.kind in _PROSE]:
        yield from _found(_in_one_piece(text), prose)
    if has_digit_in_word(low):
        yield from _with_digits_as_letters(text, words)
    if [len(word) for word in set(words)].count(1) >= _FEWEST_LETTERS:
        yield from _letter_by_letter(text)
    disguised = not text.isascii() and _is_disguised(text)
    if disguised or b"sources" in words or b"id" in words:  # defusing looks at each line
        yield from _delimiters(text)
    if disguised:
        yield from _hidden(text)
    if has_run(low, _DIGITS, _RUN):
        yield from _encoded(text, _BASE64, _from_digits)
    if "%" in text:
        yield from _encoded(text, _PERCENT, _from_percents)
    if "&#" in text:
        yield from _encoded(text, _ENTITIES, html.unescape)


def _is_disguised(text: str) -> bool:
    """True if letters may be others than they look like, or invisible."""
    found = _DISGUISE.search(text)
    if found is None:
        return False
    plain = "\u0370" <= found[0] <= "\u04ff"  # a Greek or Russian text, or some of its letters
    return not plain or bool(_MIXED.search(text)) or bool(_FURTHER.search(text))


def _encoded(text: str, looks: re.Pattern[str], decode: Callable[[str], str]) -> Iterator[_Span]:
    for found in looks.finditer(text):
        if any(True for _ in _phrases(decode(found[0]))):
            yield found.start(), found.end(), "encoded"


def _phrases(text: str) -> Iterator[_Span]:
    return _found(text, _possible(text, words_of(lower(text))))


def _possible(text: str, words: list[bytes]) -> list[Phrase]:
    """The phrases whose words a text has, most often none."""
    known = KNOWN.intersection(words)
    phrases = {id(phrase): phrase for word in known for phrase in BY_WORD.get(word, ())}
    possible = [
        phrase for phrase in phrases.values() if not any(map(known.isdisjoint, phrase.also))
    ]
    if not text.isascii() and any(trace in text for trace in UNSPACED_TRACES):
        possible.append(UNSPACED)
    return possible


def _found(text: str, phrases: Sequence[Phrase]) -> Iterator[_Span]:
    for phrase in phrases:
        for found in phrase.pattern.finditer(text):
            yield found.start(), found.end(), phrase.kind


def _in_one_piece(text: str) -> str:
    """The text, as long as before, without the ends of lines within a paragraph.

    And without what stands between words that come one by one: `Ignore. All. Previous.`
    """
    joined = _LINE_END.sub(lambda found: " " * len(found[0]), text)
    return _IN_PIECES.sub(lambda found: _BETWEEN_PIECES.sub(" ", found[0]), joined)


def _delimiters(text: str) -> Iterator[_Span]:
    """Lines that pose as the prompt's own, as helix.domain.prompt sees them."""
    if defuse(text) == text:
        return
    start = 0
    for line in text.splitlines(keepends=True):
        if defuse(line) != line:
            yield start, start + len(line.rstrip()), "delimiter"
        start += len(line)


def _hidden(text: str) -> Iterator[_Span]:
    """Spans that are an instruction only once undisguised, and writing in invisible characters."""
    yield from _only_as(text, *_folded(text))
    for found in _TAG_RUN.finditer(text):
        if text[found.start() - 1 : found.start()] != _FLAG_EMOJI:
            yield found.start(), found.end(), "hidden"
    for found in _BIT_RUN.finditer(text):
        yield found.start(), found.end(), "hidden"
    for found in _TURNED.finditer(text):
        if any(True for _ in _phrases(found[1][::-1])):
            yield found.start(), found.end(), "hidden"


def _with_digits_as_letters(text: str, words: list[bytes]) -> Iterator[_Span]:
    for letters in READ_AS:
        read = text.translate(letters)
        if not KNOWN.isdisjoint(set(words_of(lower(read))).difference(words)):
            yield from _only_as(text, read, range(len(text)))


def _letter_by_letter(text: str) -> Iterator[_Span]:
    """Spans whose words are written with one sign between any two letters: `i.g.n.o.r.e a.l.l`."""
    between = {
        place
        for found in _LETTER_BY_LETTER.finditer(text)
        for place in range(found.start() + 1, found.end(), 2)
    }
    if between:
        kept = [place for place in range(len(text)) if place not in between]
        yield from _only_as(text, "".join(text[place] for place in kept), kept)


def _only_as(text: str, read: str, places: Sequence[int]) -> Iterator[_Span]:
    """Spans of ``text`` that instruct only as ``read``, whose characters are at ``places``."""
    plain = {(start, end) for start, end, _ in _phrases(text)}
    for start, end, _ in _phrases(read):
        span = places[start], places[end - 1] + 1
        if span not in plain:
            yield *span, "hidden"


def _folded(text: str) -> tuple[str, list[int]]:
    """The text as a reader takes it, and for each of its characters where it was."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isascii():
            characters.append(character)
            places.append(place)
            continue
        for plain in as_seen(character):
            characters.append(plain)
            places.append(place)
    return "".join(characters), places


def _from_digits(found: str) -> str:
    """The text encoded in Base64 of either alphabet, or in hexadecimal digits, which look alike."""
    if _HEX.fullmatch(found):
        return _text_of(bytes.fromhex(found[:_LONGEST_DECODED]))
    body = found.rstrip("=").replace("-", "+").replace("_", "/")[:_LONGEST_DECODED]
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return _text_of(base64.b64decode(body + "=" * (-len(body) % 4)))
    except (binascii.Error, ValueError):
        return ""


def _from_percents(found: str) -> str:
    return _text_of(unquote_to_bytes(found[:_LONGEST_DECODED]))


def _text_of(data: bytes) -> str:
    text = data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-8", errors="replace")
    return "" if text.count("\ufffd") > len(text) // 10 else text


def _merged(found: Iterator[_Span]) -> list[_Span]:
    """The spans in order; those that overlap and are of one kind become one."""
    merged: list[_Span] = []
    for start, end, kind in sorted(set(found)):
        same = next((i for i, (_, e, k) in enumerate(merged) if k == kind and start < e), None)
        if same is None:
            merged.append((start, end, kind))
        else:
            merged[same] = (merged[same][0], max(end, merged[same][1]), kind)
    return merged


def _chunk_at(source: Source, place: int) -> int:
    """The chunk of a source that a character of its document is in, else the one it is cited by."""
    for hit in source.hits:
        if hit.start_char is not None and hit.start_char <= place < (hit.end_char or 0):
            return hit.chunk_id
    return source.chunk_id
