"""Attempts: a learner's answers to a quiz, kept one by one, scored and reviewed with sources."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from helix.errors import BadRequest
from helix.library.access import Connected, Library, Row, row_of
from helix.library.errors import Conflict, NotFound
from helix.storage.statements import study_attempts as sql
from helix.study.item_storage import item_row, items_of, read_set
from helix.study.items import Choice, TrueFalse, item_of
from helix.study.sets import get_set, no_set

_QUESTIONS = ("choice", "true_false")


def open_attempt(connection: Connected, tenant: str, set_id: int, learner: str) -> Row:
    """The learner's attempt at a set that is not finished; a new one where there is none.

    Raises:
        NotFound: there is no such set.
        BadRequest: the set is neither a quiz nor a workshop.
    """
    study_set = read_set(connection, tenant, set_id)
    if study_set is None:
        raise no_set(set_id)
    if study_set["kind"] not in ("quiz", "workshop"):
        raise BadRequest(f"a set of kind {study_set['kind']} is not answered: only quizzes are")
    values = {"tenant": tenant, "set_id": set_id, "learner": learner}
    attempt = row_of(connection, sql.OPEN, values)
    assert attempt is not None
    return attempt


async def list_attempts(library: Library, set_id: int, learner: str) -> list[Row]:
    """The learner's attempts at a set, newest first; raises as ``get_set`` does."""
    await get_set(library, set_id)
    return await library.all_data(sql.LIST, {"set_id": set_id, "learner": learner})


def answer_question(
    connection: Connected, tenant: str, attempt_id: int, item_id: int, answer: Any, learner: str
) -> Row:
    """Keep an answer, and tell whether it is right, with the key, the explanation and its source.

    ``answer`` is an option's number from 0, or true or false. A second answer takes the first's
    place until the attempt is finished.

    Raises:
        NotFound: there is no such attempt, or the set has no such question.
        Conflict: the attempt is finished.
        BadRequest: ``answer`` cannot be an answer of the question.
    """
    attempt = _own_attempt(connection, tenant, attempt_id, learner)
    item = item_row(connection, tenant, item_id)
    if item is None or item["set_id"] != attempt["set_id"] or item["kind"] not in _QUESTIONS:
        raise NotFound(f"this attempt's set has no question {item_id}")
    is_right = is_right_answer(item, answer)
    record = {"given": answer, "is_right": is_right, "at": datetime.now(UTC).isoformat()}
    updated = attempt["answers"] | {str(item_id): record}
    connection.execute(sql.ANSWER, {
        "tenant": tenant, "id": attempt_id, "answer": Jsonb({str(item_id): record}),
        "right": sum(bool(each.get("is_right")) for each in updated.values()),
    })  # fmt: skip
    return reviewed_question(item, record)


def finish_attempt(connection: Connected, tenant: str, attempt_id: int, learner: str) -> Row:
    """Score an attempt, and review each question of its set; one not answered counts as wrong.

    Raises:
        NotFound: there is no such attempt.
        Conflict: it is finished already.
    """
    attempt = _own_attempt(connection, tenant, attempt_id, learner)
    items = items_of(connection, tenant, attempt["set_id"])
    questions = [item for item in items if item["kind"] in _QUESTIONS]
    review = [reviewed_question(q, attempt["answers"].get(str(q["id"]))) for q in questions]
    right = sum(question["right"] for question in review)
    values = {"tenant": tenant, "id": attempt_id, "right": right, "of": len(questions)}
    connection.execute(sql.FINISH, values)
    return {"id": attempt_id, "set_id": attempt["set_id"], "right": right, "of": len(questions),
            "review": review}  # fmt: skip


def get_attempt(connection: Connected, tenant: str, attempt_id: int, learner: str) -> Row:
    """An attempt, with the review of its answered questions. Raises NotFound."""
    attempt = _attempt(connection, tenant, attempt_id, learner)
    items = items_of(connection, tenant, attempt["set_id"])
    answers = attempt["answers"]
    review = [reviewed_question(item, answers[str(item["id"])]) for item in items
              if str(item["id"]) in answers and item["kind"] in _QUESTIONS]  # fmt: skip
    return attempt | {"review": review}


def mark_done(connection: Connected, tenant: str, item_id: int, learner: str) -> Row:
    """Mark a lesson as done; the learner's attempt at its workshop is finished with the last one.

    Raises:
        NotFound: there is no such lesson.
    """
    item = item_row(connection, tenant, item_id)
    if item is None or item["kind"] != "lesson":
        raise NotFound(f"there is no lesson {item_id}")
    attempt = open_attempt(connection, tenant, item["set_id"], learner)
    record = {str(item_id): {"given": "done", "at": datetime.now(UTC).isoformat()}}
    answers = attempt["answers"] | record
    items = items_of(connection, tenant, item["set_id"])
    lessons = [each["id"] for each in items if each["kind"] == "lesson"]
    count = sum(str(lesson) in answers for lesson in lessons)
    values = {"tenant": tenant, "id": attempt["id"], "answer": Jsonb(record), "right": count}
    connection.execute(sql.ANSWER, values)
    if count == len(lessons):
        connection.execute(sql.FINISH, values | {"of": len(lessons)})
    return {"set_id": item["set_id"], "done": count, "of": len(lessons)}


def is_right_answer(item: Row, answer: Any) -> bool:
    """True if ``answer`` is the right answer of a question's row.

    Raises:
        BadRequest: it is no answer of the question's kind.
    """
    question = item_of(item["kind"], item["body"])
    if isinstance(question, Choice):
        if type(answer) is not int or not 0 <= answer < len(question.options):
            raise BadRequest(
                f"answer is not an option's number, from 0 to {len(question.options) - 1}"
            )
        return answer == question.key
    assert isinstance(question, TrueFalse)
    if type(answer) is not bool:
        raise BadRequest("answer is neither true nor false")
    return answer is question.truth


def reviewed_question(item: Row, record: dict[str, Any] | None) -> Row:
    """A question with its key, explanation and sources, and the learner's answer."""
    body = item["body"]
    key = body["key"] if item["kind"] == "choice" else body["truth"]
    return {
        "item_id": item["id"], "right": bool(record and record["is_right"]),
        "given": record["given"] if record else None, "key": key,
        "explanation": body.get("explanation", ""), "sources": item["sources"],
        "stale": item["stale"],
    }  # fmt: skip


def _attempt(connection: Connected, tenant: str, attempt_id: int, learner: str) -> Row:
    with connection.cursor(row_factory=dict_row) as cursor:
        values = {"tenant": tenant, "id": attempt_id, "learner": learner}
        attempt = cursor.execute(sql.HOLD, values).fetchone()
    if attempt is None:
        raise NotFound(f"there is no attempt {attempt_id}")
    return attempt


def _own_attempt(connection: Connected, tenant: str, attempt_id: int, learner: str) -> Row:
    attempt = _attempt(connection, tenant, attempt_id, learner)
    if attempt["finished_at"] is not None:
        raise Conflict("this attempt is finished: begin another one")
    return attempt
