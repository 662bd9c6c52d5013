"""Cards by form: from sentences under a heading, and from blanked-out values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from helix.language.terms import terms
from helix.study.items import BLANK, Card
from helix.study.offline.values import values_of
from helix.study.sentences import Sentence

_LONGEST_HEADING = 80


def cards_of(sentences: Sequence[Sentence]) -> Iterator[Card]:
    """Cards about the sentences of one passage: its heading's and gaps in turn."""
    kinds = (_headings(sentences), _gaps(sentences))
    yield from filter(None, chain.from_iterable(zip_longest(*kinds)))


def _headings(sentences: Sequence[Sentence]) -> Iterator[Card]:
    for sentence in sentences:
        path = sentence.source.hit.heading_path
        heading = path[-1] if path else ""
        shared_words = set(terms(heading)) & set(terms(sentence.text))
        if shared_words and len(heading) <= _LONGEST_HEADING and heading != sentence.source.title:
            question = heading if heading.endswith("?") else f"What is said about “{heading}”?"
            yield Card(f"{sentence.source.title}: {question}", sentence.text)
            return


def _gaps(sentences: Sequence[Sentence]) -> Iterator[Card]:
    for sentence in sentences:
        for value in values_of(sentence)[:1]:
            front = f"{sentence.source.title}: “{value.replaced(BLANK)}”"
            yield Card(front, sentence.text)
