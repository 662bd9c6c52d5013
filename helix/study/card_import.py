"""Imported decks: each card gets the span that states its back, where the library has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helix.domain.context import Source
from helix.errors import BadRequest
from helix.library.access import Connected, Library
from helix.overload.fairness import off_loop_if_long
from helix.study.examination import is_about, spans_of
from helix.study.formats import cards_of_csv
from helix.study.formats.anki import notes_of
from helix.study.item_storage import add_items, add_unproven, count_items
from helix.study.items import Card, CheckedItems, Proven
from helix.study.passages import passages_near
from helix.study.sets import NewSet, add_set

MOST_CARDS = 1000
_LONGEST = 4000
_LOOKED_AT = 5  # passages that may bear a card out


def cards_in(name: str, data: bytes) -> list[Card]:
    """The cards of a ``.csv`` or ``.apkg`` file, by its content and name; each front once.

    Raises:
        BadRequest: it is neither, or has no card, or too many.
    """
    is_anki = data[:2] == b"PK" or name.lower().endswith(".apkg")
    pairs = notes_of(data) if is_anki else cards_of_csv(data)
    fronts = {front[:_LONGEST]: back[:_LONGEST] for front, back in pairs}
    if not fronts:
        raise BadRequest(f"{name or 'the file'} has no card: a front and a back each")
    if len(fronts) > MOST_CARDS:
        raise BadRequest(f"{len(fronts)} cards are more than {MOST_CARDS}, the most of one deck")
    return [Card(front, back) for front, back in fronts.items()]


async def import_cards(
    library: Library, title: str, cards: Sequence[Card], scope: dict[str, Any] | None = None
) -> int:
    """Store the cards as a new set, of the space in ``scope`` if it has one; returns its id.

    A card whose back is stated by a passage about its front gets that span as its source: it
    becomes stale, or is deleted, with its document. The other cards have no source.
    """
    sources = [await _span(library, card) for card in cards]

    def store(connection: Connected) -> int:
        new = NewSet("cards", title, scope)
        set_id = add_set(connection, library.tenant, new)
        for card, card_sources in zip(cards, sources, strict=True):
            spans = spans_of(card.back, card_sources) if card_sources else ()
            checked = CheckedItems([Proven(card, spans)])
            ids = add_items(connection, library.tenant, set_id, checked) \
                if spans else [None]  # fmt: skip
            if ids == [None]:
                _, last = count_items(connection, library.tenant, set_id)
                body = {"front": card.front, "back": card.back}
                add_unproven(connection, library.tenant, set_id, last + 1, body)
        return set_id

    return await library.change(store)


async def _span(library: Library, card: Card) -> Source | None:
    """The passage about a card's front that states its back; None where none does."""
    near = await passages_near(library, None, f"{card.front} {card.back}")
    for each in [source for source in near[:_LOOKED_AT] if is_about(card.front, source)]:
        if await off_loop_if_long(len(card.back), spans_of, card.back, each):
            return each
    return None
