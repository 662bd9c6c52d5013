"""Workshops and maps by their documents' headings, with key terms where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from helix.domain.context import Source
from helix.library.access import Connected, Library, Row
from helix.study.examination import mentions
from helix.study.items import Lesson, Made, Node, Proven
from helix.study.maker import Maker
from helix.study.offline.outline import Branch, lessons_of, tree_of
from helix.study.passages import chosen, places_of, read_passages
from helix.study.sentences import clear_sentences, sentences_of
from helix.study.storing import add_items, change_body, keep_plan, keep_step

_PASSAGES = 6  # that a lesson is written from
_POINTS = 4
_LONGEST_POINT = 160


async def make_workshop(library: Library, row: Row, maker: Maker) -> bool:
    """Make a workshop's outline: each lesson rests on passages of one part of the scope."""
    places = await places_of(library, row["document_ids"])
    made = Made()
    for lesson in lessons_of(places, row["wanted"]):
        few = chosen(lesson.places, _PASSAGES)
        passages = await read_passages(library, [place.chunk_id for place in few])
        passages.sort(key=lambda passage: (passage.document_id, passage.start_char or 0))
        supports = tuple(span for passage in passages if (span := _opening(passage)) is not None)
        points = [
            sentence.text for passage in passages for sentence in clear_sentences(passage)[:1]
        ]
        points = [point for point in points if len(point) <= _LONGEST_POINT][:_POINTS]
        if supports:
            made.proven.append(Proven(Lesson(lesson.label, tuple(points)), supports))
        else:
            made.drop("unsupported")
    return await _keep(library, row, maker, made)


def _opening(passage: Source) -> Any:
    """The first sentence of a passage that reads as one; else its first."""
    clear = clear_sentences(passage)
    first = clear[0] if clear else next(sentences_of(passage), None)
    return first.support if first else None


async def make_map(library: Library, row: Row, maker: Maker) -> bool:
    """Make a map: the headings of the scope as a tree, each node with the passage it is about."""
    places = await places_of(library, row["document_ids"])
    few = chosen(places, 60)
    read = {p.chunk_id: p for p in await read_passages(library, [place.chunk_id for place in few])}
    branches = tree_of(places, read, row["title"], row["wanted"])
    missing = [b.places[0].chunk_id for b in branches if b.places[0].chunk_id not in read]
    read |= {p.chunk_id: p for p in await read_passages(library, missing)}
    made, parents = Made(), list[int | None]()
    kept: dict[int, int] = {}
    for place, branch in enumerate(branches):
        proven = _node(branch, read, is_root=branch.parent is None)
        if proven is None or (branch.parent is not None and branch.parent not in kept):
            made.drop("unsupported")
            continue
        kept[place] = len(made.proven)
        parents.append(None if branch.parent is None else kept[branch.parent])
        made.proven.append(proven)
    return await _keep(library, row, maker, made, parents)


def _node(branch: Branch, read: dict[int, Source], *, is_root: bool) -> Proven | None:
    """The node with its span: a sentence that has its words, or stands under its heading."""
    for place in branch.places[:4]:
        if passage := read.get(place.chunk_id):
            spans = mentions(branch.label, passage)
            if is_root and not spans and (first := _opening(passage)):
                spans = (first,)
            if spans:
                return Proven(Node(branch.label), spans)
    return None


async def _keep(
    library: Library, row: Row, maker: Maker, made: Made, parents: Sequence[int | None] = ()
) -> bool:
    """Store the outline as one step; the nodes of a map then learn their parents' ids."""
    tenant, set_id = library.tenant, row["id"]
    plan = list(dict.fromkeys(s.chunk_id for proven in made.proven for s in proven.supports))

    def store(connection: Connected) -> bool:
        keep_plan(connection, tenant, set_id, plan, maker.identity)
        ids: list[int | None] = []
        if parents:
            nodes, dropped = made.proven, dict(made.dropped)
            whole = Made(nodes, dropped)
            if not keep_step(connection, tenant, set_id, 0, Made([], dropped)):
                return False
            ids = add_items(connection, tenant, set_id, whole)
            for item_id, parent in zip(ids, parents, strict=True):
                of = None if parent is None else ids[parent]
                if item_id is not None:
                    change_body(connection, tenant, item_id, {"parent": of})
            return True
        return keep_step(connection, tenant, set_id, 0, made)

    return await library.change(partial(store))
