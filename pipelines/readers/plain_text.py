"""Plain text in any encoding, kept to the character but for words that a program cut in two."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from charset_normalizer import from_bytes

from pipelines.readers import (
    Progress,
    ReadText,
    UnreadableFile,
    indentation,
    section_numbers,
    underlines,
)
from pipelines.readers.outline import LONGEST_HEADING, Heading, sections, short_title
from pipelines.readers.section_numbers import text_lines

_MARKS = (  # UTF-32 before UTF-16, whose mark its own begins with
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_JAPANESE = (b"\x1b$B", b"\x1b$@")  # that what follows is, of mails and older files
_ALPHABETS = "cp1252 cp1250 iso8859_2 cp1251 koi8_r cp1253 cp1254 cp1255 cp1256".split()
_IDEOGRAPHS = "cp932 euc_jp gb18030 big5 cp949".split()
_MOST_CHAOS = 0.1  # of charset-normalizer: wrong guesses of right text began at 0.13
_LEAST_COHERENCE = 0.4  # letters as frequent as in a language; two sentences reach 0.5
_LEAST_IDEOGRAPHS = 20  # characters; a wrong one is not valid for as long
_OF_TABLES = re.compile(rb"[!-/:-?]|(?<![\x80-\xff])\d++")
"""Marks and numbers, the same in every encoding: to charset-normalizer many of them are chaos."""
_HYPHENS = "\u2010\xad"
"""Looked for first: patterns that begin with any letter take four fifths of a long text's time."""
_CUT = re.compile(r"(?<=[^\W\d_])[\u2010\xad](\r?\n[^\S\r\n]*+)(\w\S*+)([^\S\r\n]++(?=\S))?")
"""A word that `man` or a typesetter cut: people who write a hyphen at a line's end type another."""
_WITHIN_WORD = re.compile(r"[^\W\d_]\u2010[^\W\d_]")
"""That hyphen within a line: then it is the text's own for words that have one."""
_LONGEST_OUTLINED = 4_000_000  # characters whose lines are looked at one by one: 1 s, 100 MB
_RUNNING_HEAD = re.compile(r"\s*+(\S{1,80}\(\w{1,10}\))[ \t]{2}[^\n]{1,200}[ \t]\1[ \t\r]*+\n")
"""The first line that `man` prints: `MEND(1)   User Commands   MEND(1)`."""
_GAP = re.compile(r"\n[^\S\n]*+\n")


def read(data: bytes, progress: Progress) -> ReadText:
    """Raises UnreadableFile for bytes that are not text, and for text without a word."""
    text = decode(data)
    if any(hyphen in text for hyphen in _HYPHENS) and not _WITHIN_WORD.search(text):
        text = _CUT.sub(_mended, text)
    headings = _headings(text)
    title = _name_of_manual(text, headings)
    return ReadText(text, title, sections(text, headings) if headings else ())


def _name_of_manual(text: str, headings: Sequence[Heading]) -> str | None:
    """The paragraph under the first heading of a manual page: its name, and what that is for."""
    if not headings or not _RUNNING_HEAD.match(text):
        return None
    under = text[headings[0].end : headings[0].end + LONGEST_HEADING * 2].lstrip()
    return short_title(_GAP.split(under, 1)[0]) or None


def _headings(text: str) -> list[Heading]:
    """Headings by the first sign that the text has: underlines, a margin of their own, numbers."""
    if underlined := list(underlines.headings_of(text)):
        return underlined
    lines = list(text_lines(text)) if len(text) <= _LONGEST_OUTLINED else []
    return list(indentation.headings_of(lines)) or section_numbers.headings_of(lines)


def _mended(cut: re.Match[str]) -> str:
    """The word on its first line; the second one begins behind it, if anything is left of it."""
    gap, rest, more = cut.groups()
    return f"{rest}{gap if more else ''}"


def decode(data: bytes) -> str:
    """Bytes to text, a leading byte order mark dropped; raises as ``read`` does.

    UTF-8; UTF-16 and UTF-32 by their mark; else the encoding that the letters speak for.
    """
    text = _decode(data)
    if "\x00" in text:
        raise UnreadableFile(f"not text: a NUL character at offset {text.index(chr(0))}")
    if not text.strip():
        raise UnreadableFile("empty: there is no text in it")
    return text


def _decode(data: bytes) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(name)
            except UnicodeDecodeError as error:
                raise UnreadableFile(
                    f"not {name.upper()} at byte {error.start}, although its first bytes say so: "
                    "save it as UTF-8 and ingest it again"
                ) from None
    if b"\x00" in data:
        raise UnreadableFile(f"not text: a NUL byte at offset {data.index(0)}")
    if any(mark in data for mark in _JAPANESE) and (text := _strictly(data, "iso2022_jp")):
        return text  # in seven bits, so that it is UTF-8 too
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        guessed = _decode_by_letters(data)
        if guessed is None:
            raise UnreadableFile(
                f"not UTF-8 at byte {error.start}: save it as UTF-8 and ingest it again"
            ) from None
        return guessed


def _decode_by_letters(data: bytes) -> str | None:
    """``data`` in the old encoding that it is plainly in, or None."""
    letters = _OF_TABLES.sub(b" ", data)
    known = _ALPHABETS + _IDEOGRAPHS
    matches = [
        match
        for match in from_bytes(letters, cp_isolation=known, enable_fallback=False)
        if match.chaos <= _MOST_CHAOS
    ]
    if not matches:
        return None
    best = max(matches, key=lambda match: match.coherence)
    if best.coherence >= _LEAST_COHERENCE:
        # of two that read equally well, the commoner
        equal = [m.encoding for m in matches if m.coherence == best.coherence]
        common = "cp1252" in equal or "cp1252" in best.could_be_from_charset
        return _strictly(data, "cp1252" if common else best.encoding)
    first = matches[0].encoding
    text = _strictly(data, first) if first in _IDEOGRAPHS else None
    # each takes a byte more than a letter does; half-width katakana, as any bytes may be, do not
    return text if text and len(data) - len(text) >= _LEAST_IDEOGRAPHS else None


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:  # charset-normalizer looks at samples of a long text
        return None
