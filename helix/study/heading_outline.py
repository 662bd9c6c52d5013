"""Outlines by form: the headings of a scope, with its names where they are few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from helix.domain.context import Source
from helix.language.terms import STOP_WORDS, terms
from helix.library.access import Library
from helix.study.checked_outline import PASSAGES_OF_A_LESSON, Outline, opening, points_of
from helix.study.examination import UNSUPPORTED, mentions
from helix.study.items import Lesson, Node, Proven
from helix.study.offline.values import values_of
from helix.study.passages import Place, evenly_spread, read_passages
from helix.study.sentences import sentences_of

_FEWEST_LESSONS = 3
_LONGEST_LABEL = 90
_TERMS_OF_A_PART = 5
_MARKS = ".,;:()“”\"'"
_FEW_NODES = 12  # a tree of fewer gets key terms as leaves


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


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of a scope by name; ``parent`` is its parent's place in the list, if it has one."""

    label: str
    places: tuple[Place, ...]
    parent: int | None = None
    depth: int = field(default=0, compare=False)


def lessons_of(places: Sequence[Place], limit: int) -> list[Branch]:
    """At most ``limit`` parts in order, and at least three where there are as many passages.

    The parts are those of the shallowest level that has at least three headings. Short neighbours
    are joined, and text without headings is cut into even parts.
    """
    if not places:
        return []
    deepest = max(len(place.path) for place in places)
    parts: list[Branch] = []
    for depth in range(1, deepest + 1):
        parts = _by_heading(places, depth)
        if len(parts) >= min(_FEWEST_LESSONS, limit):
            break
    if len(parts) < _FEWEST_LESSONS:
        parts = _even_parts(places, min(limit, len(places)))
    while len(parts) > limit:
        parts = _merge_shortest(parts)
    return parts


def _by_heading(places: Sequence[Place], depth: int) -> list[Branch]:
    places_by_path: dict[tuple[str, ...], list[Place]] = {}
    for place in places:
        places_by_path.setdefault(place.path[:depth], []).append(place)
    return [
        Branch(path[-1][:_LONGEST_LABEL], tuple(members))
        for path, members in places_by_path.items()
    ]


def _even_parts(places: Sequence[Place], count: int) -> list[Branch]:
    count = max(1, min(count, _FEWEST_LESSONS))
    cuts = [len(places) * n // count for n in range(count + 1)]
    parts = [tuple(places[a:b]) for a, b in pairwise(cuts)]
    several = len(parts) > 1
    return [
        Branch(f"{part[0].path[-1][:_LONGEST_LABEL]}" + (f", part {n}" if several else ""), part)
        for n, part in enumerate(parts, 1)
    ]


def _merge_shortest(parts: list[Branch]) -> list[Branch]:
    """The parts with the two neighbours joined that are shortest together."""
    sizes = [sum(place.characters for place in part.places) for part in parts]
    at = min(range(len(parts) - 1), key=lambda n: sizes[n] + sizes[n + 1])
    one, other = parts[at], parts[at + 1]
    label = f"{one.label}; {other.label}"
    if len(label) > _LONGEST_LABEL:
        label = one.label
    return [*parts[:at], replace(one, label=label, places=one.places + other.places),
            *parts[at + 2 :]]  # fmt: skip


def tree_of(
    places: Sequence[Place], passages_by_id: Mapping[int, Source], title: str, limit: int
) -> list[Branch]:
    """A tree of at most ``limit`` branches, a parent before its children, the shallowest first.

    Its root is ``title``, or the one document's title. Key terms of the passages that were
    ``passages_by_id`` hang below where headings are few.
    """
    if not places:
        return []
    paths = list(dict.fromkeys(place.path for place in places))
    several = len({path[0] for path in paths}) > 1 or bool(title)
    root = title or (paths[0][0] if not several else "Library")
    nodes = [Branch(root[:_LONGEST_LABEL], tuple(places))]
    parents: dict[tuple[str, ...], int] = {} if several else {paths[0][:1]: 0}
    deepest = max(map(len, paths))
    for depth in range(1 if several else 2, deepest + 1):
        for path in dict.fromkeys(path[:depth] for path in paths if len(path) >= depth):
            if len(nodes) >= limit:
                return nodes
            below = tuple(place for place in places if place.path[:depth] == path)
            parent = parents.get(path[:-1], 0)
            parents[path] = len(nodes)
            nodes.append(Branch(path[-1][:_LONGEST_LABEL], below, parent, depth))
    return _with_terms(nodes, passages_by_id, limit) if len(nodes) < _FEW_NODES else nodes


def _with_terms(
    nodes: list[Branch], passages_by_id: Mapping[int, Source], limit: int
) -> list[Branch]:
    """The tree with the key terms of each leaf below it."""
    parents = {node.parent for node in nodes}
    branches, labels = list(nodes), {node.label.casefold() for node in nodes}
    for at, node in enumerate(nodes):
        if at in parents:
            continue
        passages = [
            passages_by_id[place.chunk_id]
            for place in node.places
            if place.chunk_id in passages_by_id
        ]
        for label, chunk_id in key_terms(passages, _TERMS_OF_A_PART):
            if len(branches) >= limit:
                return branches
            if label.casefold() not in labels:
                labels.add(label.casefold())
                about = tuple(place for place in node.places if place.chunk_id == chunk_id)
                branches.append(Branch(label, about, at, node.depth + 1))
    return branches


def key_terms(passages: Sequence[Source], most: int) -> list[tuple[str, int]]:
    """The names and repeated pairs of words, with the chunk they stand in."""
    scores: Counter[str] = Counter()
    where: dict[str, tuple[str, int]] = {}
    for passage in passages:
        for sentence in sentences_of(passage):
            names = [value.text for value in values_of(sentence) if value.kind == "name"]
            for text in (*names, *_pairs(sentence.text)):
                bare = text.strip(_MARKS)
                if key := " ".join(terms(bare)):
                    scores[key] += 3 if text in names else 1
                    where.setdefault(key, (bare, passage.chunk_id))
    return [where[key] for key, count in scores.most_common(most) if count > 1]


def _pairs(text: str) -> Iterator[str]:
    """Words that stand beside each other: one by itself ("connect") is no topic."""
    for one, other in pairwise(text.split()):
        if one[-1:].isalpha() and _is_wordy(one) and _is_wordy(other):
            yield f"{one} {other}"


def _is_wordy(word: str) -> bool:
    bare = word.strip(_MARKS)
    return len(bare) > 3 and bare.isalpha() and bare.islower() and bare not in STOP_WORDS
