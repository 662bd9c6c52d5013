"""The sentences of a passage that questions can be made of: whole, and clear on their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from helix.answering.proof import Support
from helix.answering.proof.passages import is_placed
from helix.domain.context import Source
from helix.language.navigation import is_navigation, is_within, navigation_spans
from helix.language.sentences import sentence_spans
from helix.language.terms import terms
from helix.language.word_lists import word_lists
from helix.language.words import words

_CHARS = range(40, 281)
"""Characters of a sentence that a question is made of."""
_FEWEST_TERMS = 5
_LEAST_LETTERS, _LEAST_LOWERED = 0.65, 0.4
"""Least shares of letters, and of words in lower case, in prose: formulas and titles have less."""
_POINTING = word_lists("words")["pointing"] | word_lists("words")["leading"]
_OPENING = 3
"""Words of a sentence among which none may point back: further on it points within."""
_STRANGE = re.compile(r"[|\n\r\t{}<>\\^~]|\.{3}|…|\[\d|https?:|www\.|@|\(\s*\)|__|\*\*|�|=|\?")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")  # an entry of a list, whose number is no part of it
_OPENINGS, _CLOSINGS = "([“", ")]”"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage; ``start`` is where it begins in the passage's text."""

    text: str
    start: int
    source: Source

    @property
    def support(self) -> Support:
        """The sentence as a span of its document."""
        hit = self.source.hit
        at = (hit.start_char or 0) + self.start
        end = at + len(self.text)
        return Support(
            1, hit.chunk_id, hit.document_id, at, end, self.text, hit.page, hit.label
        )  # fmt: skip


def sentences_of(source: Source) -> Iterator[Sentence]:
    """Every sentence of a passage that says where it stands, in order, but for navigation."""
    if not is_placed(source.hit):
        return
    text = source.hit.content
    navigation = navigation_spans(text)
    headings = (source.title, *source.hit.heading_path)
    for start, end in sentence_spans(text):
        if not is_within(navigation, start) and not is_navigation(text[start:end], headings):
            yield Sentence(text[start:end], start, source)


def clear_sentences(source: Source) -> list[Sentence]:
    """The sentences of a passage that questions can be made of (``is_clear``)."""
    return [sentence for sentence in sentences_of(source) if is_clear(sentence.text)]


def is_clear(text: str) -> bool:
    """True if a text is a whole sentence of prose that needs nothing before it to be understood."""
    if len(text) not in _CHARS or text[-1] != "." or not (text[0].isupper() or text[0].isdigit()):
        return False
    if _NUMBERED.match(text) or _STRANGE.search(text):
        return False
    if not _POINTING.isdisjoint(words(text)[:_OPENING]):
        return False
    return _marks_are_paired(text) and _is_prose(text)


def _marks_are_paired(text: str) -> bool:
    """False of a sentence that was cut within brackets or quotation marks."""
    pairs = zip(_OPENINGS, _CLOSINGS, strict=True)
    return text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)


def _is_prose(text: str) -> bool:
    parts = text.split()
    letters = sum(c.isalpha() for c in text)
    lowered = sum(part[0].islower() for part in parts)
    enough = letters >= _LEAST_LETTERS * len(text) and lowered >= _LEAST_LOWERED * len(parts)
    return enough and len(set(terms(text))) >= _FEWEST_TERMS
