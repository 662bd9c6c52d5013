"""Lessons, written by the answering path when first opened, one exercise each; and maps' layout."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from helix.answering.answer import long_citations
from helix.answering.pipeline import AnswerPipeline, AnswerRequest
from helix.answering.proof import prove
from helix.answering.question import Question
from helix.domain.context import Source
from helix.domain.scope import Scope
from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row
from helix.library.errors import NotFound
from helix.study.examination import Examiner
from helix.study.item_storage import add_items, change_body, item_row, items_of, read_set
from helix.study.items import CheckedItems, Proven
from helix.study.maker import Maker, Order
from helix.study.passages import passages_near, read_passages
from helix.study.sentences import clear_sentences
from helix.study.sets import no_set

Admit = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
_TOP_K = 8
_QUOTED = 3  # sentences of a passage, where they are the lesson's text


async def open_lesson(
    library: Library, answering: AnswerPipeline, maker: Maker, item_id: int, admit: Admit
) -> Row:
    """A lesson's row; its text is written now where nobody has opened the lesson before.

    The text is an answer, proven and cited like any other, from the documents of the lesson's
    passages, and ``admit`` begins it when there is a place for an answer. Where it is a refusal the
    text is quoted from the passages themselves; it stays empty where no sentence of them is whole
    prose.

    Raises:
        NotFound: there is no such lesson.
        UpstreamError, StoreUnavailable: as an answer does.
    """
    lesson = await _lesson(library, item_id)
    if "text" in lesson["body"]:
        return lesson
    await admit(partial(_write, library, answering, maker, lesson))
    return await _lesson(library, item_id)


async def _write(library: Library, answering: AnswerPipeline, maker: Maker, lesson: Row) -> None:
    request = AnswerRequest(answering, _question(library, lesson), recorded=False)
    answer = await request.run_json()
    passages = await read_passages(library, [span["chunk_id"] for span in lesson["sources"]])
    exercise = await _exercise(library, maker, lesson, passages)
    body = _quoted(passages) if answer["abstained"] else {
        "text": answer["answer"], "citations": answer["citations"], "support": answer["support"],
    }  # fmt: skip

    def keep(connection: Connected) -> None:
        stored = item_row(connection, library.tenant, lesson["id"])
        if stored is None or "text" in stored["body"]:
            return  # deleted meanwhile, or written by another request
        ids: list[int | None] = []
        if exercise:
            checked = CheckedItems([exercise])
            ids = add_items(connection, library.tenant, lesson["set_id"], checked)
        more = body | {"exercise": ids[0] if ids else None}
        change_body(connection, library.tenant, lesson["id"], more)

    await library.change(keep)


async def _lesson(library: Library, item_id: int) -> Row:
    row = await library.change(partial(item_row, tenant=library.tenant, item_id=item_id))
    if row is None or row["kind"] != "lesson":
        raise NotFound(f"there is no lesson {item_id}")
    return row


def _question(library: Library, lesson: Row) -> Question:
    """The question that the lesson's text answers, in the scope of the lesson's documents."""
    sources = lesson["sources"]
    document, title = sources[0]["title"], lesson["body"]["title"]
    ids = tuple(dict.fromkeys(source["document_id"] for source in sources))
    text = f"What is “{document}” about?"
    if title != document:
        text = f"What does “{document}” say about {title}?"
    scope = Scope(library.tenant, document_ids=ids, spaces=library.reach.spaces)
    return Question(text, scope, _TOP_K)


def _quoted(passages: Sequence[Source]) -> dict[str, Any]:
    """A lesson's text in the words of its passages, each sentence cited to its own."""
    parts = [
        " ".join(f"{sentence.text} [{n}]" for sentence in clear_sentences(passage)[:_QUOTED])
        for n, passage in enumerate(passages, 1)
    ]
    text = "\n\n".join(filter(None, parts))
    proof = prove(text, passages)
    return {
        "text": text or None, "citations": long_citations(text, passages, proof),
        "support": proof.to_json(),
    }  # fmt: skip


async def _exercise(
    library: Library, maker: Maker, lesson: Row, passages: Sequence[Source]
) -> Proven | None:
    """One proven question about the lesson's passages; None where none is proven."""
    ids = list(dict.fromkeys(source["document_id"] for source in lesson["sources"]))
    examiner = Examiner(lambda text: passages_near(library, ids, text))
    order = Order("quiz", "normal", passages)
    for passage in passages:
        is_false = partial(examiner.is_unstated, source=passage)
        async for item in maker.items(order, passage, 1, is_false):
            if item is None:
                continue
            outcome = await examiner.examine(item, passage)
            if isinstance(outcome, Proven):
                return outcome
    return None


_FARTHEST = 100_000.0


def arrange(
    connection: Connected,
    tenant: str,
    set_id: int,
    positions: Mapping[str, Sequence[float]] | None,
    folded: Mapping[str, bool],
) -> None:
    """Keep positions and folds by the nodes' ids; ``positions`` None forgets all positions.

    Raises:
        NotFound: there is no such map.
        BadRequest: an id is not one of its nodes, or a position is not two numbers in range.
    """
    study_map = read_set(connection, tenant, set_id)
    if study_map is None or study_map["kind"] != "map":
        raise no_set(set_id)
    nodes = {str(item["id"]): item["id"] for item in items_of(connection, tenant, set_id)}
    changes: dict[str, dict[str, Any]] = {}
    if positions is None:
        changes = {name: {"at": None} for name in nodes}
    for name, at in (positions or {}).items():
        if len(at) != 2 or not all(math.isfinite(c) and abs(c) <= _FARTHEST for c in at):
            raise BadRequest(f"the position of node {name[:20]} is not [x, y], each up to 100000")
        changes.setdefault(name, {})["at"] = list(at)
    for name, is_folded in folded.items():
        changes.setdefault(name, {})["folded"] = is_folded
    if strange := changes.keys() - nodes.keys():
        raise BadRequest(f"the map has no node {min(strange)[:20]}")
    for name, change in changes.items():
        change_body(connection, tenant, nodes[name], change)
