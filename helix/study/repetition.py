"""Spaced repetition: when a card is due, by FSRS 6 as py-fsrs has it, and undoing a review."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from psycopg.types.json import Jsonb

from helix.library.access import Connected, Library, Row, row_of
from helix.library.errors import Conflict, NotFound
from helix.storage.statements import study_cards as sql

if TYPE_CHECKING:
    from fsrs import Card, Scheduler

Rating = Literal["again", "hard", "good", "easy"]
RATINGS: tuple[Rating, ...] = get_args(Rating)
KNOWN = timedelta(days=21)
"""The interval from which on a card is known well, as Anki calls one mature."""


def scheduler(retention: float) -> Scheduler:
    """FSRS for this ``retention``: the probability, 0 to 1, of recall when a card is due.

    Without fuzz, so that the interval on a button is the one that a review gives.
    """
    from fsrs import Scheduler  # here, for only cards need it

    return Scheduler(desired_retention=retention, enable_fuzzing=False)


def reviewed(
    stored: Mapping[str, Any] | None, item_id: int, rating: Rating, now: datetime, retention: float
) -> Card:
    """The card after a review at ``now``; ``stored`` None: it is a new one."""
    from fsrs import Card, Rating

    card = Card.from_dict(_as_card(stored)) if stored else Card(card_id=item_id, due=now)
    after, _ = scheduler(retention).review_card(card, Rating[rating.title()], now)
    return after


def intervals(
    stored: Mapping[str, Any] | None, item_id: int, now: datetime, retention: float
) -> dict[str, int]:
    """The seconds after which the card would be due, by rating."""
    return {
        rating: round((reviewed(stored, item_id, rating, now, retention).due - now).total_seconds())
        for rating in RATINGS
    }


def _as_card(stored: Mapping[str, Any]) -> Any:
    return dict(stored)


async def due_cards(
    library: Library, learner: str, retention: float, limit: int, set_id: int | None = None
) -> Row:
    """The cards that are due, longest first, then new ones; with how many there are of each.

    Each has ``intervals``: by rating, the seconds until it would come again.
    """
    now = datetime.now(UTC)
    values = {"learner": learner, "now": now, "set_id": set_id, "limit": limit}
    counts = await library.data(sql.COUNTS, values)
    cards = await library.all_data(sql.DUE, values)
    for card in cards:
        card["intervals"] = intervals(card.pop("card"), card["id"], now, retention)
    return {**(counts or {}), "cards": cards}


def review(
    connection: Connected,
    tenant: str,
    item_id: int,
    rating: Rating,
    *,
    learner: str,
    retention: float,
    now: datetime | None = None,
) -> Row:
    """Store how well a card was known; returns when it is due next.

    ``deck_mastered``: this review gave the last card of its deck an interval of KNOWN or longer.

    Raises:
        NotFound: there is no such card.
    """
    now = now or datetime.now(UTC)
    whose = {"tenant": tenant, "item_id": item_id, "learner": learner}
    row = row_of(connection, sql.HOLD, whose)
    if row is None:
        raise NotFound(f"there is no card {item_id}: GET /v1/study/due lists those that are due")
    after = reviewed(row["card"], item_id, rating, now, retention)
    stored = dict(after.to_dict())
    connection.execute(sql.KEEP, whose | {"card": Jsonb(stored), "due_at": after.due})
    before = None if row["card"] is None else Jsonb(row["card"])
    connection.execute(sql.REVIEWED, whose | {"rating": rating, "before": before, "now": now})
    is_last = _is_known(stored) and not _is_known(row["card"])
    deck = row_of(connection, sql.MASTERED, whose | {"known": KNOWN}) if is_last else None
    mastered = bool(deck and deck["mastered"])
    return {"id": item_id, "due_at": after.due.isoformat(), "deck_mastered": mastered}


def _is_known(stored: Mapping[str, Any] | None) -> bool:
    if stored is None:
        return False
    due, last = (datetime.fromisoformat(stored[name]) for name in ("due", "last_review"))
    return due - last >= KNOWN


def undo_review(connection: Connected, tenant: str, *, learner: str) -> Row:
    """Undo the learner's last review: the card's state is the one before it.

    Raises:
        Conflict: there is no review to undo.
    """
    row = row_of(connection, sql.TAKE_LAST, {"tenant": tenant, "learner": learner})
    if row is None:
        raise Conflict("there is no review to undo")
    whose = {"tenant": tenant, "item_id": row["item_id"], "learner": learner}
    if row["before"] is None:
        connection.execute(sql.NEW_AGAIN, whose)
    else:
        due = datetime.fromisoformat(row["before"]["due"])
        connection.execute(sql.KEEP, whose | {"card": Jsonb(row["before"]), "due_at": due})
    return {"id": row["item_id"], "rating": row["rating"]}
