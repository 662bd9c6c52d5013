"""A representative choice of a scope's passages, and the passages that may state a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from helix.domain.context import Source, sources_of
from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.language.navigation import is_navigation
from helix.language.terms import question_words
from helix.library.access import Library, compose
from helix.storage.packed_terms import SLOTS, key_of, slot_of
from helix.storage.searches import hit_of
from helix.storage.statements import study_passages as sql
from helix.storage.statements.scopes import scope_condition

MOST_PASSAGES = 15
"""Passages that items are made of at most, unless more items are wanted."""
_MOST_PLACES = 20_000  # chunks of a scope that are chosen from; of more every second or third
_NEAR = 40  # passages that a text is looked for in
_SHORT = 200  # characters: a heading with its first line, hardly more
_BEGINS = 1.25  # how much more the first passage under a heading weighs
_AS_IT_IS = 10**9


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a passage: its document, the headings above it, and its length in characters."""

    chunk_id: int
    document_id: int
    title: str
    heading_path: tuple[str, ...]
    characters: int

    @property
    def path(self) -> tuple[str, ...]:
        """The document's title and the headings, each named once and none a number alone."""
        names = [self.title]
        for name in self.heading_path:
            if name and name != names[-1] and not is_navigation(name):
                names.append(name)
        return tuple(names)


async def documents_in(library: Library, scope: Scope) -> list[int] | None:
    """The ids of a scope's documents at present; None for a whole library."""
    if not scope.filters():
        return None
    statement = compose(sql.DOCUMENTS, condition=scope_condition(scope.narrowed_by))
    row = await library.data(statement, scope.filters())
    return list(row["ids"] or ()) if row else []


async def places_of(library: Library, document_ids: Sequence[int] | None) -> list[Place]:
    """The passages of these documents, or of all, in order."""
    rows = await library.all_data(sql.PLACES, {"ids": _as_list(document_ids), "most": _MOST_PLACES})
    return [_place(row) for row in rows]


def _place(row: Mapping[str, Any]) -> Place:
    path = row["heading_path"]
    headings = tuple(map(str, path)) if isinstance(path, list) else ()
    return Place(row["id"], row["document_id"], row["title"], headings, row["characters"])


def evenly_spread(places: Sequence[Place], limit: int) -> list[Place]:
    """At most ``wanted`` places, spread evenly over the text; any first few are spread evenly too.

    Of neighbours the longer passage is preferred, and the first one under a heading.
    """
    long = [place for place in places if place.characters >= _SHORT] or list(places)
    begins = {place.path: place.chunk_id for place in reversed(long)}
    if len(long) > limit:
        whole = sum(place.characters for place in long)
        best: dict[int, tuple[float, Place]] = {}
        at = 0
        for place in long:
            stretch = (at + place.characters // 2) * limit // whole
            at += place.characters
            first = begins[place.path] == place.chunk_id
            weight = min(place.characters, 1500) * (_BEGINS if first else 1.0)
            if stretch not in best or weight > best[stretch][0]:
                best[stretch] = weight, place
        long = [place for _, place in best.values()]
    return _spread(long)


def _spread(places: list[Place]) -> list[Place]:
    """The places in an order in which any first few of them are far apart."""
    count = len(places)
    bits = max(count - 1, 1).bit_length()
    order = (int(f"{n:0{bits}b}"[::-1], 2) for n in range(1 << bits))
    return [places[n] for n in order if n < count]


async def read_passages(library: Library, chunk_ids: Sequence[int]) -> list[Source]:
    """The passages with their texts, in the order of ``chunk_ids``; deleted ones are left out."""
    rows = await library.all_data(sql.HITS, {"chunks": list(chunk_ids)})
    hits = {row["chunk_id"]: hit_of(row) for row in rows}
    return [source_of(hits[chunk_id]) for chunk_id in chunk_ids if chunk_id in hits]


def without_repeats(passages: Sequence[Source]) -> list[Source]:
    """The passages without those that repeat an earlier one nearly word for word."""
    hits = [passage.hit for passage in passages]
    return sources_of(hits, max_tokens=_AS_IT_IS, max_sources=len(hits), apart=len(hits))


async def passages_near(
    library: Library, document_ids: Sequence[int] | None, text: str
) -> list[Source]:
    """The passages of these documents (None: of all) that share most words with ``text``."""
    keys = sorted({key_of(term, library.tenant) for term in question_words(text)})
    if not keys:
        return []
    slots = sorted({slot_of(key) + 1 for key in keys})
    weights = f"{{{','.join(f'{slot}:1' for slot in slots)}}}/{SLOTS}"
    values = {"keys": keys, "weights": weights, "most": _NEAR, "ids": _as_list(document_ids)}
    return [source_of(hit_of(row)) for row in await library.all_data(sql.STATING, values)]


def source_of(hit: Hit) -> Source:
    """One passage as a source of its own."""
    return Source(hit, (hit,), hit.content, hit.start_char, hit.end_char)


def _as_list(document_ids: Sequence[int] | None) -> list[int] | None:
    return None if document_ids is None else list(document_ids)
