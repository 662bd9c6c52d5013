"""Writes by random readers, each compared with the model, which is changed as the database is.

Whoever may not write is told so, of what they may not read as of what is not there.
"""

from __future__ import annotations

import itertools
import random

import httpx

from helix.library.spaces import SpaceRole
from tests.support.document_reads import MOST_FOUND, Read
from tests.support.model_world import World
from tests.support.reading_model import LIBRARY, Model, Reader

_numbers = itertools.count()


def _outcomes(reader: Reader, told: httpx.Response, may: dict[int, bool]) -> dict[int, bool]:
    """The documents that were changed, by the answer: those that ``may`` be, and no others."""
    assert told.status_code == 200, told.text
    done = {row["id"]: row["error"] is None for row in told.json()["documents"]}
    assert done == may, (reader, told.text)
    return done


def _labelled(world: World, rng: random.Random, reader: Reader) -> int:
    model = world.model
    ids = rng.sample(list(model.documents), MOST_FOUND)
    told = world.post(reader, "/v1/documents/batch", action="label", ids=ids, add=["seen"])
    if not model.writes(reader):
        assert told.status_code == 403, told.text
        return 1
    may = {number: model.may_change(reader, number) for number in ids}
    return len(_outcomes(reader, told, may))


def _placed(world: World, rng: random.Random, reader: Reader) -> int:
    """In a space, moved there alone, or taken out of it."""
    model, verb = world.model, rng.choice(["add", "move", "remove"])
    space, ids = rng.choice(list(model.spaces)), rng.sample(list(model.documents), 10)
    told = world.post(reader, f"/v1/spaces/{space}/documents", **{verb: ids})
    if not model.writes(reader) or not model.may_edit(reader, space):
        assert told.status_code == _refusal(model, reader, space), (reader, told.text)
        return 1
    own, after = model.edits_of(reader), {}
    for number in ids:
        stands_in = model.documents[number]
        leaves = {space} if verb == "remove" else set()
        if verb == "move":
            leaves = (stands_in if own is None else own) - {space}
        after[number] = (stands_in | ({space} if verb != "remove" else set())) - leaves
    may = {number: model.may_read(reader, number) and bool(after[number]) for number in ids}
    done = _outcomes(reader, told, may)
    model.documents |= {number: after[number] for number, is_done in done.items() if is_done}
    return len(done)


def _refusal(model: Model, reader: Reader, space: int) -> int:
    """The status by which a write into a space that one may not edit is refused."""
    return 404 if model.writes(reader) and not model.opens(reader, space) else 403


def _described(world: World, rng: random.Random, reader: Reader) -> int:
    """One document by its id: its labels, or what would delete it where that is refused."""
    model, document = world.model, rng.choice(list(world.model.documents))
    status = 200 if model.may_change(reader, document) else 403
    if model.writes(reader) and not model.may_read(reader, document):
        status = 404
    path = f"/v1/documents/{document}"
    ways = [("PATCH", path, {"tags": ["seen"]})]
    if status != 200:
        ways += [("DELETE", path, {}), ("POST", f"{path}/reingest", {})]
    method, at, body = rng.choice(ways)
    told = world.send(reader, method, at, **body)
    assert told.status_code == status, (reader, told.text)
    assert status == 200 or "pier" not in told.text.lower()
    return 1


def _brought(world: World, rng: random.Random, reader: Reader) -> int:
    """A file that is uploaded, which others see or not, and deleted again."""
    model, named = world.model, rng.choice([None, *world.model.spaces])
    edits = model.edits_of(reader)
    files = {"file": ("new.txt", f"Words of file {next(_numbers)}.".encode())}
    form = {} if named is None else {"space": str(named)}
    told = world.clients[reader.name].post("/v1/documents", files=files, data=form)
    if not model.writes(reader) or edits == set():
        expected = 403 if named is None else _refusal(model, reader, named)
        assert told.status_code == expected, (reader, told.text)
        return 1
    if named is not None and not model.may_edit(reader, named):
        assert told.status_code == _refusal(model, reader, named), (reader, told.text)
        return 1
    assert told.status_code == 202, told.text
    document, run = told.json()["documents"][0]["id"], told.json()["run_id"]
    first = LIBRARY if edits is None else min(edits)
    return 1 + _seen_by_others(world, rng, reader, document, run, first if named is None else named)


def _seen_by_others(
    world: World, rng: random.Random, by: Reader, document: int, run: int, space: int
) -> int:
    model = world.model
    model.documents[document] = {space}
    readers = [by, *rng.sample(model.readers, 3)]
    for reader in readers:
        status = 200 if model.may_read(reader, document) else 404
        for path in (f"/v1/documents/{document}", f"/v1/runs/{run}"):
            told = world.get(reader, path)
            assert told.status_code == status, (reader, path, told.text)
    told = world.send(by, "DELETE", f"/v1/documents/{document}")
    assert told.status_code == 204, told.text
    del model.documents[document]
    world.connection.execute("DELETE FROM runs WHERE id = %s", (run,))
    return 2 * len(readers)


def _given(world: World, rng: random.Random, reader: Reader) -> int:
    """A space is given to somebody, or taken from them, by whoever is no owner too."""
    model, number = world.model, rng.choice(list(world.model.spaces))
    kind, name = rng.choice([
        *(("people", email) for email in model.people),
        *(("groups", group) for group in model.groups),
    ])  # fmt: skip
    space = model.spaces[number]
    given = space.people if kind == "people" else space.groups
    wanted = model.people[name].id if kind == "people" else model.groups[name]
    role: SpaceRole | None = rng.choice(["reader", "reader", "editor", None])
    path = f"/v1/spaces/{number}/members/{kind}/{wanted}"
    told = (
        world.send(reader, "DELETE", path)
        if role is None
        else world.send(reader, "PUT", path, role=role)
    )
    assert told.status_code == _status_of_giving(model, reader, number, given.get(name), role), (
        reader, told.text,
    )  # fmt: skip
    if told.status_code == 200:
        model.is_library_changed |= number == LIBRARY
        given.pop(name, None)
        given |= {} if role is None else {name: role}
    return 1


def _status_of_giving(
    model: Model, reader: Reader, space: int, now: SpaceRole | None, role: SpaceRole | None
) -> int:
    if reader.kind != "session":
        return 403
    if not model.opens(reader, space):
        return 404
    person = model.people[reader.person]
    if person.role != "owner" and (
        not model.spaces[space].has_editor(person) or "editor" in (now, role)
    ):
        return 403
    return 404 if (now, role) == (None, None) else 200


WRITES: list[tuple[float, Read]] = [
    (0.5, _labelled), (0.8, _placed), (0.8, _described), (0.3, _brought), (0.7, _given),
]  # fmt: skip
"""Writes, each with how often it is drawn."""
