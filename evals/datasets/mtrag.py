"""MTRAG and MTRAG-UN (IBM): turns of conversations, over the passages that their files hold.

The full corpora are not here: the passages of all files are one pool, and a turn's judgements are
kept only where every passage that they name is in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.datasets.records import Document, QuestionSet, json_lines

COLLECTIONS = ("clapnq", "cloud", "fiqa", "govt")
UN, HUMAN = "MTRAG-UN", "MTRAG human"
TITLE = "passage"
"""Of every document, for a passage has none: a word that all have finds none of them."""
_SPEAKER = "|user|:"
_TURNS = re.compile(rf"(?:^|\n){re.escape(_SPEAKER)}")


@dataclass(frozen=True)
class ConversationTurn:
    """A turn: the questions of its conversation up to it, and the places of what answers it.

    ``relevant`` is empty where its judgements are not complete in the pool, or it has none.
    ``kind`` is MTRAG-UN's: answerable, unanswerable, underspecified or partial. ``rewrite`` is a
    person's standalone wording, where the set has one.
    """

    source: str
    identity: str
    asked: tuple[str, ...]
    relevant: frozenset[int]
    kind: str | None = None
    rewrite: str | None = None
    answers: tuple[str, ...] = ()
    """Of the questions before it, where the set has them."""

    @property
    def conversation(self) -> str:
        """The conversation that it is of."""
        return self.identity.partition("<::>")[0]


def load_mtrag(data: Path) -> tuple[QuestionSet, list[ConversationTurn]]:
    """The pool below the folder ``data``, a document a passage, and the turns asked of it."""
    folder = data / "mtrag"
    tasks = json_lines(folder / "un_reference.jsonl")
    rated: dict[str, Any] = json.loads((folder / "human_ratings.json").read_text("utf-8"))
    pool: dict[str, str] = {}
    for passage in (*(each for task in tasks for each in task["contexts"]), *rated["documents"]):
        pool.setdefault(passage["document_id"], passage["text"])
    places = {identity: number for number, identity in enumerate(pool)}
    passages = QuestionSet("mtrag", [Document(TITLE, text) for text in pool.values()], [])
    turns = [*_un(folder, tasks, places), *_human(folder, places)]
    return passages, turns


def _un(
    folder: Path, tasks: list[dict[str, Any]], places: dict[str, int]
) -> Iterator[ConversationTurn]:
    judged: dict[str, frozenset[int]] = {}
    for collection in COLLECTIONS:
        judged |= _judgements(folder / "retrieval" / collection / "un_qrels.tsv", places)
    for task in tasks:
        identity, kind = task["task_id"], task["answerability"][0].lower()
        asked = tuple(said["text"] for said in task["input"] if said["speaker"] == "user")
        answers = tuple(said["text"] for said in task["input"] if said["speaker"] != "user")
        relevant = judged.get(identity, frozenset())
        yield ConversationTurn(UN, identity, asked, relevant, kind, answers=answers)


def _human(folder: Path, places: dict[str, int]) -> Iterator[ConversationTurn]:
    for collection in COLLECTIONS:
        below = folder / "retrieval" / collection
        told, rewritten = (
            {row["_id"]: row["text"] for row in json_lines(below / f"{collection}_{name}.jsonl")}
            for name in ("questions", "rewrite")
        )
        for identity, relevant in _judgements(below / "qrels.tsv", places).items():
            asked = tuple(text.strip() for text in _TURNS.split(told[identity]) if text.strip())
            rewrite = rewritten[identity].removeprefix(_SPEAKER).strip()
            yield ConversationTurn(HUMAN, identity, asked, relevant, rewrite=rewrite)


def _judgements(file: Path, places: dict[str, int]) -> dict[str, frozenset[int]]:
    """The places of what answers each turn whose passages are all in the pool."""
    named: dict[str, set[str]] = {}
    for line in file.read_text("utf-8").splitlines()[1:]:
        identity, passage, _ = line.split("\t")
        named.setdefault(identity, set()).add(passage)
    return {
        identity: frozenset(places[passage] for passage in passages)
        for identity, passages in named.items()
        if passages <= places.keys()
    }
