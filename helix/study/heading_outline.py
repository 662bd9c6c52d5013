"""Outlines by form: the headings of a scope, with its names where they are few."""

from __future__ import annotations

from collections.abc import Sequence

from helix.domain.context import Source
from helix.library.access import Library
from helix.study.checked_outline import PASSAGES_OF_A_LESSON, Outline, opening, points_of
from helix.study.examination import UNSUPPORTED, mentions
from helix.study.heading_tree import Branch, lessons_of, tree_of
from helix.study.items import Lesson, Node, Proven
from helix.study.passages import Place, evenly_spread, read_passages


async def lessons_by_heading(library: Library, places: Sequence[Place], limit: int) -> Outline:
    """At most ``limit`` lessons, the parts of the scope in order."""
    outline = Outline(is_sound=True)
    for lesson in lessons_of(places, limit):
        few = evenly_spread(lesson.places, PASSAGES_OF_A_LESSON)
        passages = await read_passages(library, [place.chunk_id for place in few])
        passages.sort(key=lambda passage: (passage.document_id, passage.start_char or 0))
        supports = tuple(span for passage in passages if (span := opening(passage)) is not None)
        if supports:
            points = tuple(points_of(passages))
            outline.items.proven.append(Proven(Lesson(lesson.label, points), supports))
        else:
            outline.items.drop(UNSUPPORTED)
    return outline


async def nodes_by_heading(
    library: Library, places: Sequence[Place], title: str, limit: int
) -> Outline:
    """At most ``limit`` nodes, the headings of the scope as a tree below ``title``."""
    few = evenly_spread(places, 60)
    passages = {
        p.chunk_id: p for p in await read_passages(library, [place.chunk_id for place in few])
    }
    branches = tree_of(places, passages, title, limit)
    missing = [b.places[0].chunk_id for b in branches if b.places[0].chunk_id not in passages]
    passages |= {p.chunk_id: p for p in await read_passages(library, missing)}
    outline, node_places = Outline(is_sound=True), dict[int, int]()
    for place, branch in enumerate(branches):
        proven = _node(branch, passages, is_root=branch.parent is None)
        if proven is None or (branch.parent is not None and branch.parent not in node_places):
            outline.items.drop(UNSUPPORTED)
            continue
        node_places[place] = len(outline.items.proven)
        outline.parents.append(None if branch.parent is None else node_places[branch.parent])
        outline.items.proven.append(proven)
    return outline


def _node(branch: Branch, passages: dict[int, Source], *, is_root: bool) -> Proven | None:
    """The node with its span: a sentence with its words, or one under its heading."""
    for place in branch.places[:4]:
        if passage := passages.get(place.chunk_id):
            spans = mentions(branch.label, passage)
            if is_root and not spans and (first := opening(passage)):
                spans = (first,)
            if spans:
                return Proven(Node(branch.label), spans)
    return None
