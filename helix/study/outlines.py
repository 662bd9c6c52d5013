"""Workshops and maps: a model's outline where it is sound, else the documents' headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from helix.domain.context import Source
from helix.library.access import Connected, Library, Row
from helix.study.checked_outline import Outline, checked_lessons, checked_nodes
from helix.study.heading_outline import lessons_by_heading, nodes_by_heading
from helix.study.item_storage import add_items, change_body, keep_plan, keep_step
from helix.study.items import CheckedItems
from helix.study.maker import Maker, OfflineMaker, Part
from helix.study.passages import Place, evenly_spread, places_of, read_passages, without_repeats

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
