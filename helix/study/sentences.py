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
_FEWEST_TERMS = 5
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
        return Support(
            1,
            hit.chunk_id,
            hit.document_id,
            at,
            at + len(self.text),
            self.text,
            hit.page,
            hit.label,
        )


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
    if any(text.count(a) != text.count(b) for a, b in zip(_OPENINGS, _CLOSINGS, strict=True)):
        return False
    if text.count('"') % 2:
        return False
    letters = sum(c.isalpha() for c in text)
    parts = text.split()
    lowered = sum(part[0].islower() for part in parts)
    return (
        letters >= 0.65 * len(text)
        and lowered >= 0.4 * len(parts)
        and len(set(terms(text))) >= _FEWEST_TERMS
    )
