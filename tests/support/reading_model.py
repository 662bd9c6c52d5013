"""A plain model of who may read and change which documents, and changes of it at random.

Each change is made in the database and in the model alike. The model knows nothing of SQL: people,
groups, keys, spaces and documents are sets in dictionaries.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import psycopg

from helix.library.people.groups import add_group, join_group, leave_group
from helix.library.people.members import Role, set_role
from helix.library.spaces import (
    Member,
    SpaceRole,
    add_space,
    change_space,
    delete_space,
    let_in,
    let_out,
)

TENANT = "model"
LIBRARY = 0
MOST_SPACES = 12
PEOPLE, GROUPS = 6, 3


@dataclass
class Person:
    """A member of the tenant, who signs in and has a token, which may be limited to spaces."""

    id: int
    email: str
    role: Role
    token: int = 0
    groups: set[str] = field(default_factory=set)


@dataclass
class Space:
    """A space, and who it is given to beside everybody, each with a role in it."""

    everyone: bool = False
    people: dict[str, SpaceRole] = field(default_factory=dict)
    groups: dict[str, SpaceRole] = field(default_factory=dict)

    def has_editor(self, person: Person) -> bool:
        """True if it was given to a person as its editor, by themselves or in a group."""
        of_groups = {self.groups.get(group) for group in person.groups}
        return "editor" in of_groups | {self.people.get(person.email)}


@dataclass(frozen=True)
class Reader:
    """A way in: a key, or a person's token or session."""

    name: str
    kind: Literal["key", "token", "session"]
    person: str = ""


@dataclass
class Model:
    """Spaces by id, people by address, groups by name with their ids; what limits keys, by id."""

    documents: dict[int, set[int]] = field(default_factory=dict)
    chunks: dict[int, int] = field(default_factory=dict)
    spaces: dict[int, Space] = field(default_factory=lambda: {LIBRARY: Space(everyone=True)})
    people: dict[str, Person] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    limits: dict[str, set[int] | None] = field(default_factory=dict)
    readers: list[Reader] = field(default_factory=list)
    made: int = 0
    is_library_changed: bool = False

    def spaces_of(self, reader: Reader) -> set[int] | None:
        """The spaces that a reader reads; None: everything."""
        limit = self.limits.get(reader.name)
        person = self.people.get(reader.person)
        if person is None or person.role == "owner" or self._is_undivided():
            return limit
        own = {
            number
            for number, space in self.spaces.items()
            if space.everyone or person.email in space.people or person.groups & set(space.groups)
        }
        return own if limit is None else own & limit

    def edits_of(self, reader: Reader) -> set[int] | None:
        """The spaces whose documents a reader may change; None: every document."""
        limit = self.limits.get(reader.name)
        person = self.people.get(reader.person)
        if person is None or person.role == "owner":
            return limit
        if person.role == "editor" and self._is_undivided():
            return limit
        own = {
            number
            for number, space in self.spaces.items()
            if (space.everyone and person.role == "editor") or space.has_editor(person)
        }
        return own if limit is None else own & limit

    def _is_undivided(self) -> bool:
        return set(self.spaces) == {LIBRARY} and not self.is_library_changed

    def may_read(self, reader: Reader, document: int, space: int | None = None) -> bool:
        """True if the model says so; in ``space`` alone, if one is named."""
        own, stands_in = self.spaces_of(reader), self.documents[document]
        return (own is None or bool(own & stands_in)) and (space is None or space in stands_in)

    def readable(self, reader: Reader, space: int | None = None) -> set[int]:
        """All documents that may be read."""
        return {number for number in self.documents if self.may_read(reader, number, space)}

    def opens(self, reader: Reader, space: int) -> bool:
        """True if the reader may read the space itself."""
        own = self.spaces_of(reader)
        return space in self.spaces if own is None else space in own

    def may_edit(self, reader: Reader, space: int) -> bool:
        """True if the reader may change what stands in a space."""
        own = self.edits_of(reader)
        return self.opens(reader, space) and (own is None or space in own)

    def may_change(self, reader: Reader, document: int) -> bool:
        """True if the reader may: of a document none but whose spaces they edit."""
        own = self.edits_of(reader)
        return self.may_read(reader, document) and (own is None or self.documents[document] <= own)

    def writes(self, reader: Reader) -> bool:
        """True if routes that write documents open to the reader at all."""
        person = self.people.get(reader.person)
        return person is None or person.role != "reader" or self.edits_of(reader) != set()

    def session_of(self, email: str) -> Reader:
        """The browser of a person."""
        return next(each for each in self.readers if (each.kind, each.person) == ("session", email))


@dataclass(frozen=True)
class Changing:
    """A model, the owner's connection to the database that it is of, and what happens by chance."""

    model: Model
    connection: psycopg.Connection
    rng: random.Random

    def make(self) -> None:
        """One change of a kind that is chosen."""
        self.rng.choice(CHANGES)(self)

    def some_spaces(self, least: int, most: int) -> set[int]:
        there = sorted(self.model.spaces)
        return set(self.rng.sample(there, min(len(there), self.rng.randint(least, most))))

    def person(self) -> Person:
        return self.rng.choice(list(self.model.people.values()))


def _move(world: Changing) -> None:
    document, spaces = world.rng.choice(list(world.model.documents)), world.some_spaces(1, 3)
    world.connection.execute(
        "UPDATE documents SET spaces = %s WHERE id = %s", (sorted(spaces), document)
    )
    world.model.documents[document] = spaces


def _limit(world: Changing) -> None:
    """A key's, or a token's."""
    name = world.rng.choice(list(world.model.limits))
    spaces = None if world.rng.random() < 0.2 else world.some_spaces(0, 6)
    world.connection.execute(
        "UPDATE api_keys SET space_ids = %s WHERE name = %s",
        (None if spaces is None else sorted(spaces), name),
    )
    world.model.limits[name] = spaces


def _add_space(world: Changing) -> None:
    if len(world.model.spaces) >= MOST_SPACES:
        return
    world.model.made += 1
    everyone = world.rng.random() < 0.3
    name = f"Space number {world.model.made}"
    number = add_space(world.connection, TENANT, name, everyone=everyone)
    world.model.spaces[number] = Space(everyone)


def _delete_space(world: Changing) -> None:
    """With the last way out of it for each of its documents."""
    number = world.rng.choice(list(world.model.spaces))
    if number == LIBRARY or len(world.model.spaces) < 5:
        return
    for document, spaces in world.model.documents.items():
        if spaces == {number}:
            spaces.add(LIBRARY)
            world.connection.execute(
                "UPDATE documents SET spaces = %s WHERE id = %s", (sorted(spaces), document)
            )
        spaces.discard(number)
    delete_space(world.connection, TENANT, number)
    del world.model.spaces[number]
    for limit in world.model.limits.values():
        (limit or set()).discard(number)


def _open_or_close(world: Changing) -> None:
    number = world.rng.choice(list(world.model.spaces))
    space = world.model.spaces[number]
    world.model.is_library_changed |= number == LIBRARY
    space.everyone = not space.everyone
    with world.connection.transaction():
        change_space(world.connection, TENANT, number, {"everyone": space.everyone})


def _let_or_bar(world: Changing) -> None:
    """A person, or a group."""
    number = world.rng.choice(list(world.model.spaces))
    space, is_group = world.model.spaces[number], world.rng.random() < 0.4
    name = world.rng.choice(list(world.model.groups)) if is_group else world.person().email
    member = Member(group=name) if is_group else Member(person=name)
    given = space.groups if is_group else space.people
    role: SpaceRole = "editor" if world.rng.random() < 0.4 else "reader"
    world.model.is_library_changed |= number == LIBRARY
    with world.connection.transaction():
        if name in given and world.rng.random() < 0.7:
            let_out(world.connection, TENANT, number, member)
            del given[name]
        else:
            let_in(world.connection, TENANT, number, member, role)
            given[name] = role


def _join_or_leave(world: Changing) -> None:
    person, group = world.person(), world.rng.choice(list(world.model.groups))
    move = leave_group if group in person.groups else join_group
    assert move(world.connection, TENANT, world.model.groups[group], person.id)
    person.groups ^= {group}


def _set_role(world: Changing) -> None:
    """Of all but the first, who stays an owner."""
    person = world.rng.choice(list(world.model.people.values())[1:])
    roles: list[Role] = ["editor", "reader", "reader", "owner"]
    person.role = world.rng.choice(roles)
    with world.connection.transaction():
        set_role(world.connection, TENANT, person.id, person.role)


CHANGES: list[Callable[[Changing], None]] = [
    _move, _move, _move, _limit, _limit, _add_space, _delete_space, _open_or_close,
    _let_or_bar, _let_or_bar, _let_or_bar, _join_or_leave, _join_or_leave, _set_role,
]  # fmt: skip


def add_groups(model: Model, connection: psycopg.Connection) -> None:
    """The groups, which nobody is in so far."""
    for number in range(GROUPS):
        model.groups[f"group {number}"] = add_group(connection, TENANT, f"group {number}")
