"""Generation of a set passage by passage; each step and its progress are stored to resume from."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil

from helix.domain.context import Source
from helix.errors import HelixError, UpstreamError
from helix.library.access import Connected, Library, Row
from helix.study.checked_outline import Outline, checked_lessons, checked_nodes
from helix.study.examination import DUPLICATE, MALFORMED, Examiner
from helix.study.heading_outline import lessons_by_heading, nodes_by_heading
from helix.study.item_storage import (
    add_items,
    change_body,
    count_items,
    items_of,
    keep_plan,
    keep_step,
    read_set,
)
from helix.study.items import CheckedItems, Rejected, item_of
from helix.study.maker import Maker, OfflineMaker, Order, Part
from helix.study.passages import (
    MOST_PASSAGES,
    Place,
    evenly_spread,
    passages_near,
    places_of,
    read_passages,
    without_repeats,
)

_SHOWN = 30  # passages that a model outlines
_TRIES = 2
MALFORMED_OUTLINE = "malformed outline"
"""The reason for dropping a model's outline: too few of its parts are readable and have a span."""

Check = Callable[[Sequence[Part | None], Sequence[Source], int], Outline]


async def make_workshop(library: Library, row: Row, maker: Maker) -> bool:
    """Make a workshop's outline: each lesson rests on passages of the scope."""
    places = await places_of(library, row["document_ids"])
    outline = await _by_model(library, row, maker, places, checked_lessons)
    if not outline.is_sound:
        by_rule = await lessons_by_heading(library, places, row["wanted"])
        outline, maker = _instead(outline, by_rule), OfflineMaker()
    return await _keep(library, row, maker, outline.items)


async def make_map(library: Library, row: Row, maker: Maker) -> bool:
    """Make a map: the topics of the scope as a tree, each node with a span of a passage."""
    places = await places_of(library, row["document_ids"])
    outline = await _by_model(library, row, maker, places, checked_nodes)
    if not outline.is_sound:
        by_rule = await nodes_by_heading(library, places, row["title"], row["wanted"])
        outline, maker = _instead(outline, by_rule), OfflineMaker()
    return await _keep(library, row, maker, outline.items, outline.parents)


async def _by_model(
    library: Library, row: Row, maker: Maker, places: Sequence[Place], check: Check
) -> Outline:
    """The maker's outline, asked for once more where the first is not sound; else an empty one.

    Raises:
        UpstreamError: the model's service failed.
    """
    some = await read_passages(library, [place.chunk_id for place in evenly_spread(places, _SHOWN)])
    passages = without_repeats(some)
    passages.sort(key=lambda passage: (passage.document_id, passage.start_char or 0))
    failed = Outline()
    for _ in range(_TRIES if passages else 0):
        parts = await maker.outline(row["kind"], passages, row["wanted"])
        if parts is None:
            break
        outline = check(parts, passages, row["wanted"])
        if outline.is_sound:
            return _instead(failed, outline)
        failed.items.drop(MALFORMED_OUTLINE)
    return failed


def _instead(failed: Outline, outline: Outline) -> Outline:
    """``outline``, whose counts of dropped parts include those of ``failed``."""
    for reason, count in failed.items.dropped.items():
        outline.items.drop(reason, count)
    return outline


async def _keep(
    library: Library,
    row: Row,
    maker: Maker,
    checked: CheckedItems,
    parents: Sequence[int | None] = (),
) -> bool:
    """Store the outline as one step; the nodes of a map then learn their parents' ids."""
    tenant, set_id = library.tenant, row["id"]
    plan = list(dict.fromkeys(s.chunk_id for proven in checked.proven for s in proven.supports))

    def store(connection: Connected) -> bool:
        keep_plan(connection, tenant, set_id, plan, maker.identity)
        ids: list[int | None] = []
        if parents:
            nodes, dropped = checked.proven, dict(checked.dropped)
            whole = CheckedItems(nodes, dropped)
            if not keep_step(connection, tenant, set_id, 0, CheckedItems([], dropped)):
                return False
            ids = add_items(connection, tenant, set_id, whole)
            for item_id, parent in zip(ids, parents, strict=True):
                of = None if parent is None else ids[parent]
                if item_id is not None:
                    change_body(connection, tenant, item_id, {"parent": of})
            return True
        return keep_step(connection, tenant, set_id, 0, checked)

    return await library.change(partial(store))


GoingOn = Callable[[str], Awaitable[bool]]
"""Is called with the current stage; returns False where making is to stop."""
_ROUNDS = 2
"""Rounds that make items of a passage; the second one is for items still missing."""
_MOST_READ = 60
_FAILURES = 3
FAILED = "model failed"
"""The reason in ``dropped`` for a passage whose items the model's service failed to make."""

_logger = logging.getLogger(__name__)


@dataclass
class _Work:
    """A set that is being made."""

    library: Library
    set_id: int
    maker: Maker
    going_on: GoingOn
    row: Row
    failures: int = field(default=0)

    async def near(self, text: str) -> Sequence[Source]:
        return await passages_near(self.library, self.row["document_ids"], text)


class NothingMade(HelixError):
    """A set was made to its end, and has no item."""

    def __init__(self, dropped: Mapping[str, int]) -> None:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items()))
        super().__init__(
            f"nothing that was made is proven by the documents ({reasons}): try another model,"
            " another difficulty or more documents"
            if reasons
            else "the documents have no passage that anything could be made of: try others"
        )


async def make(library: Library, set_id: int, maker: Maker, going_on: GoingOn) -> bool:
    """Make a set, or its missing items; False where making was stopped, or the set was deleted.

    Raises:
        NothingMade: there is no item at the end.
        UpstreamError: the model's service failed several times in a row.
        StoreUnavailable: the database did not answer.
    """
    tenant = library.tenant
    row = await library.change(partial(read_set, tenant=tenant, set_id=set_id))
    if row is None or not await going_on("choosing passages"):
        return False
    work = _Work(library, set_id, maker, going_on, row)
    if not await (_outline(work) if row["kind"] in ("workshop", "map") else _items(work)):
        return False
    count, _ = await library.change(partial(count_items, tenant=tenant, set_id=set_id))
    if not count and (row := await library.change(partial(read_set, tenant=tenant, set_id=set_id))):
        raise NothingMade(row["dropped"])
    return True


async def _make_plan(work: _Work) -> list[int]:
    limit = min(max(MOST_PASSAGES, work.row["wanted"]), _MOST_READ)
    places = evenly_spread(await places_of(work.library, work.row["document_ids"]), limit)
    passages = await read_passages(work.library, [place.chunk_id for place in places])
    plan = [passage.chunk_id for passage in without_repeats(passages)]
    keep = partial(
        keep_plan, tenant=work.library.tenant, set_id=work.set_id, plan=plan,
        model=work.maker.identity,
    )  # fmt: skip
    await work.library.change(keep)
    return plan


async def _items(work: _Work) -> bool:
    library, row = work.library, work.row
    if row["plan"] is None:
        row["plan"] = await _make_plan(work)
    passages = {p.chunk_id: p for p in await read_passages(library, row["plan"])}
    order = Order(row["kind"], row["difficulty"], list(passages.values()))
    stored = await library.change(partial(items_of, tenant=library.tenant, set_id=work.set_id))
    examiner = Examiner(work.near, [item_of(each["kind"], each["body"]) for each in stored])
    steps = len(row["plan"])
    for at in range(row["at"], steps * _ROUNDS):
        count, _ = await library.change(
            partial(count_items, tenant=library.tenant, set_id=work.set_id)
        )
        if count >= row["wanted"]:
            break
        if not await work.going_on(f"passage {at % steps + 1} of {steps}"):
            return False
        limit = min(row["wanted"] - count, ceil(row["wanted"] / steps) + at // steps * 3)
        passage = passages.get(row["plan"][at % steps])
        result = await _step(work, order, examiner, passage, limit) if passage else CheckedItems()
        if at >= steps:
            result.dropped.pop(DUPLICATE, None)  # the first round has counted it
        keep = partial(keep_step, tenant=library.tenant, set_id=work.set_id, at=at, checked=result)
        if not await library.change(keep):
            return False
    return True


async def _step(
    work: _Work, order: Order, examiner: Examiner, passage: Source, limit: int
) -> CheckedItems:
    """At most ``wanted`` proven items of one passage, and the counts of dropped ones."""
    checked = CheckedItems()

    async def is_false(text: str) -> bool:
        return await examiner.is_unstated(text, passage)

    candidates = work.maker.items(order, passage, limit, is_false)
    try:
        async for item in candidates:
            if item is None:
                checked.drop(MALFORMED)
                continue
            outcome = await examiner.examine(item, passage)
            if isinstance(outcome, Rejected):
                checked.drop(outcome.reason)
            else:
                checked.proven.append(outcome)
            if len(checked.proven) >= limit:
                break
        work.failures = 0
    except UpstreamError as error:
        work.failures += 1
        if work.failures >= _FAILURES:
            raise
        _logger.warning("a passage of study set %d is left out: %s", work.set_id, error)
        checked.drop(FAILED)
    return checked


async def _outline(work: _Work) -> bool:
    """A workshop's lessons or a map's nodes: one step."""
    if work.row["at"]:
        return True
    if not await work.going_on("outlining"):
        return False
    maker = make_workshop if work.row["kind"] == "workshop" else make_map
    return await maker(work.library, work.row, work.maker)
