"""Checks of a model's outline: a part that is unreadable or has no span in a passage is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from helix.answering.proof import Support
from helix.domain.context import Source
from helix.study.examination import (
    DUPLICATE,
    MALFORMED,
    UNSUPPORTED,
    is_about,
    mentions,
    spans_of,
)
from helix.study.items import CheckedItems, Lesson, Node, Proven
from helix.study.maker import Part
from helix.study.sentences import clear_sentences, sentences_of

LONGEST_TITLE = 90
PASSAGES_OF_A_LESSON = 6
_POINTS = 4
_LONGEST_POINT = 160
_FEWEST_LESSONS, _FEWEST_NODES = 3, 4


@dataclass
class Outline:
    """Lessons or nodes with what was dropped; ``parents`` are places in ``made.proven``, of nodes.

    ``is_sound``: there are enough of them for a workshop or a map.
    """

    items: CheckedItems = field(default_factory=CheckedItems)
    parents: list[int | None] = field(default_factory=list)
    is_sound: bool = False


def checked_lessons(
    parts: Sequence[Part | None], passages: Sequence[Source], limit: int
) -> Outline:
    """At most ``limit`` lessons: each title fits a passage that it names, and no two are alike."""
    outline, titles = Outline(), set[str]()
    for part in parts:
        sources = _passages_of(part, passages)[:PASSAGES_OF_A_LESSON]
        problem = _problem(part, sources) or _lesson_problem(part, sources, titles)
        if part is None or problem:
            outline.items.drop(problem or MALFORMED)
        elif len(outline.items.proven) < limit:
            titles.add(part.title.casefold())
            stated = [point for point in part.points if _is_stated(point, sources)]
            points = stated or points_of(sources)
            lesson = Lesson(part.title.strip(), tuple(points[:_POINTS]))
            outline.items.proven.append(Proven(lesson, _openings(sources)))
    outline.is_sound = len(outline.items.proven) >= min(_FEWEST_LESSONS, limit, len(passages))
    return outline


def checked_nodes(parts: Sequence[Part | None], passages: Sequence[Source], limit: int) -> Outline:
    """At most ``limit`` nodes of one tree: each label stands in a passage that the node names.

    A node whose parent is dropped goes with it.
    """
    outline, places = Outline(), dict[int, int]()
    for place, part in enumerate(parts[:limit]):
        sources = _passages_of(part, passages) or (list(passages) if place == 0 else [])
        is_root = part is not None and part.parent is None
        problem = _problem(part, sources)
        if problem is None and (is_root != (place == 0)):
            problem = MALFORMED  # a second root, or none
        spans = _spans_of_label(part, sources, is_root=is_root) if part and not problem else ()
        if part is None or problem or not spans or not (is_root or part.parent in places):
            outline.items.drop(problem or UNSUPPORTED)
            continue
        places[place] = len(outline.items.proven)
        outline.parents.append(None if part.parent is None else places[part.parent])
        outline.items.proven.append(Proven(Node(part.title.strip()), spans))
    outline.is_sound = len(outline.items.proven) >= min(_FEWEST_NODES, limit, len(passages))
    return outline


def opening(passage: Source) -> Support | None:
    """The span of a passage's first sentence of whole prose; else of its first sentence."""
    clear = clear_sentences(passage)
    first = clear[0] if clear else next(sentences_of(passage), None)
    return first.support if first else None


def points_of(passages: Sequence[Source]) -> list[str]:
    """The first sentences of passages, where they are short enough for a list of points."""
    sentences = [sentence.text for passage in passages for sentence in clear_sentences(passage)[:1]]
    return [point for point in sentences if len(point) <= _LONGEST_POINT][:_POINTS]


def _passages_of(part: Part | None, passages: Sequence[Source]) -> list[Source]:
    numbers = dict.fromkeys(part.sources) if part else ()
    return [passages[number - 1] for number in numbers if 1 <= number <= len(passages)]


def _problem(part: Part | None, sources: Sequence[Source]) -> str | None:
    sound = part is not None and 0 < len(part.title.strip()) <= LONGEST_TITLE and sources
    return None if sound else MALFORMED


def _lesson_problem(part: Part | None, sources: Sequence[Source], titles: set[str]) -> str | None:
    if part is None:
        return MALFORMED
    if part.title.casefold() in titles:
        return DUPLICATE
    has_subject = any(is_about(part.title, passage) for passage in sources)
    return None if has_subject and _openings(sources) else UNSUPPORTED


def _openings(passages: Sequence[Source]) -> tuple[Support, ...]:
    return tuple(span for passage in passages if (span := opening(passage)) is not None)


def _is_stated(point: str, passages: Sequence[Source]) -> bool:
    return len(point) <= _LONGEST_POINT and any(spans_of(point, each) for each in passages)


def _spans_of_label(part: Part, sources: Sequence[Source], *, is_root: bool) -> tuple[Support, ...]:
    """A sentence of the first passage that has the label's words; the root may be any name."""
    for passage in sources:
        if spans := mentions(part.title, passage):
            return spans
    return _openings(sources)[:1] if is_root else ()
