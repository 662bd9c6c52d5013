"""Spaces: named sets of documents, which is what permissions are given to.

A document stands in one space at least; the library, of the id 0, is the one that every tenant has.
Who may change a space is decided by whoever calls: here it is changed in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from psycopg.errors import CheckViolation, UniqueViolation
from psycopg.rows import class_row

from helix.domain.scope import LIBRARY_SPACE, Spaces, within_both
from helix.errors import BadRequest
from helix.library.errors import Conflict, NotFound
from helix.library.pagination import check_name, check_text
from helix.storage.statements import spaces as sql

if TYPE_CHECKING:  # helix.library.access loads what a list of keys need not
    from helix.library.access import Connected, Library, Row

SpaceRole = Literal["reader", "editor"]
"""To read the documents of a space; to change them and which stand in it too."""
MemberKind = Literal["people", "groups"]


@dataclass(frozen=True, slots=True)
class Member:
    """A person, by their address or id, or a group, by its name or id, that a space is given to."""

    person: str | None = None
    group: str | None = None
    person_id: int | None = None
    group_id: int | None = None

    def values(self) -> dict[str, str | int | None]:
        """The values that statements bind."""
        return asdict(self)

    def __str__(self) -> str:
        if self.person or self.person_id:
            return self.person or f"the person {self.person_id}"
        return f"the group {self.group or self.group_id}"


@dataclass(frozen=True, slots=True)
class SpaceMember:
    """A member of a space as it is listed: ``kind`` is ``people`` or ``groups``."""

    kind: MemberKind
    id: int
    name: str
    email: str
    role: SpaceRole


LONGEST_NAME = 100
LONGEST_STYLE = 4000
_LIBRARY = "library"
_NO_OTHER = "move or delete first the documents that stand in no other space"


def no_space(named: object) -> NotFound:
    """The error for a space that is not there, or may not be read."""
    return NotFound(f"there is no space {str(named)[:LONGEST_NAME]}: GET /v1/spaces lists them")


def checked_name(text: str) -> str:
    """``text`` as the name of a space.

    Raises:
        BadRequest: it is blank, longer than 100 characters, or a number, which is an id.
    """
    name = check_name("name", text, LONGEST_NAME)
    if not name or name.isdecimal():
        raise BadRequest("a space is named by 1 to 100 characters that are no number alone")
    return name


async def list_spaces(library: Library, only: Spaces) -> list[Row]:
    """The spaces of the tenant, or those of ``only``: the library first, then by name.

    Each with id, name, everyone, model, style, created_at and its number of documents.
    """
    return await library.whole.rows(sql.LIST, {"only": None if only is None else list(only)})


async def space_of(library: Library, named: str | int, only: Spaces) -> int:
    """The id of the space that is called ``named``, or has that id, among those of ``only``.

    Raises:
        NotFound: there is none.
    """
    text = check_text("space", str(named), LONGEST_NAME)
    values = {"named": text, "only": None if only is None else list(only)}
    row = await library.whole.data(sql.FIND, values)
    if row is None:
        raise no_space(text)
    return int(row["id"])


def ids_of(connection: Connected, tenant: str, named: Iterable[str]) -> list[int]:
    """The ids of a tenant's spaces by their names or ids, in order.

    Raises:
        NotFound: one is not there.
    """
    wanted = {name.strip().lower(): name for name in named}
    found = connection.execute(sql.IDS, {"tenant": tenant, "named": list(wanted)}).fetchall()
    known = {name.lower(): space for space, name in found}
    known |= {str(space): space for space, _ in found}
    for key, name in wanted.items():
        if key not in known:
            raise NotFound(f"there is no space {name}: `helix spaces list` has them")
    return sorted({known[key] for key in wanted})


def spaces_of(connection: Connected, tenant: str) -> list[Row]:
    """``list_spaces`` of a whole tenant, by the owner's connection."""
    rows = connection.execute(sql.LIST, {"tenant": tenant, "only": None}).fetchall()
    return [row[0] for row in rows]


def add_space(connection: Connected, tenant: str, name: str, **about: Any) -> int:
    """Make a space without documents; returns its id. ``about``: as ``change_space`` takes it.

    Raises:
        BadRequest: the name or the style cannot be one.
        Conflict: there is one of this name.
    """
    values: dict[str, Any] = {"everyone": False, "model": "", "style": ""} | _checked(
        {**about, "name": name}
    )
    row = connection.execute(sql.ADD, values | {"tenant": tenant}).fetchone()
    if row is None:
        raise _taken(name)
    return int(row[0])


def change_space(
    connection: Connected, tenant: str, space: int, changes: Mapping[str, Any]
) -> None:
    """Change ``name``, ``everyone``, ``model`` or ``style`` of a space; what is left out stays.

    Raises:
        NotFound: there is none of this id.
        BadRequest, Conflict: as ``add_space``.
    """
    values = dict.fromkeys(("name", "everyone", "model", "style")) | _checked(changes, space)
    values |= {"tenant": tenant, "id": space}
    if space == LIBRARY_SPACE:
        connection.execute(sql.KEEP_LIBRARY, values)
    try:
        found = connection.execute(sql.CHANGE, values).fetchone()
    except UniqueViolation:
        raise _taken(str(values["name"])) from None
    if found is None:
        raise no_space(space)


def _checked(about: Mapping[str, Any], space: int | None = None) -> dict[str, Any]:
    checked = {name: value for name, value in about.items() if value is not None}
    if "name" in checked:
        checked["name"] = checked_name(checked["name"])
        if checked["name"].lower() == _LIBRARY and space != LIBRARY_SPACE:
            raise _taken(checked["name"])
    if "style" in checked:
        checked["style"] = _checked_style(checked["style"])
    return checked


def _checked_style(text: str) -> str:
    from helix.library.prompt_versions import checked_text  # it loads LlamaIndex
    from helix.settings.prompts import STYLE

    if len(text) > LONGEST_STYLE:
        raise BadRequest(f"style has {len(text)} characters; the limit is {LONGEST_STYLE}")
    return checked_text(STYLE, text)


def _taken(name: str) -> Conflict:
    return Conflict(f"there is a space {name} already")


def delete_space(connection: Connected, tenant: str, space: int) -> None:
    """Delete a space; its documents stay in the others that they stand in.

    Raises:
        NotFound: there is none of this id.
        BadRequest: it is the library.
        Conflict: a document stands in no other space.
    """
    values = {"tenant": tenant, "id": space}
    if space == LIBRARY_SPACE:
        raise BadRequest("the library is always there: take its documents out of it instead")
    alone = connection.execute(sql.ALONE, values).fetchone()
    if alone and alone[0]:
        raise Conflict(f"{_NO_OTHER}: {alone[0]}")
    try:
        deleted = connection.execute(sql.DELETE, values).fetchone()
    except CheckViolation:  # one came meanwhile
        raise Conflict(_NO_OTHER) from None
    if deleted is None:
        raise no_space(space)


def let_in(
    connection: Connected, tenant: str, space: int, who: Member, role: SpaceRole = "reader"
) -> None:
    """Give a space to a member of the tenant or to a group, by the owner's connection.

    Raises:
        NotFound: there is no such member or group.
    """
    values = {"tenant": tenant, "id": space, "role": role, "name": None, **who.values()}
    if space == LIBRARY_SPACE:
        connection.execute(sql.KEEP_LIBRARY, values)
    done = connection.execute(sql.LET_IN, values).fetchone()
    if not done or not done[0]:
        raise NotFound(f"{who} is not in the tenant {tenant}")


def let_out(connection: Connected, tenant: str, space: int, who: Member) -> None:
    """Take a space from a person or a group, by the owner's connection.

    Raises:
        NotFound: it was not theirs.
    """
    values = {"tenant": tenant, "id": space, **who.values()}
    if connection.execute(sql.LET_OUT, values).fetchone() is None:
        raise NotFound(f"the space was not given to {who}")


def members_of(connection: Connected, tenant: str, space: int) -> list[tuple[str, SpaceRole]]:
    """The people, by their address, and the groups that a space is given to, with their roles."""
    return connection.execute(sql.MEMBERS, {"tenant": tenant, "id": space}).fetchall()


def list_members(connection: Connected, tenant: str, space: int) -> list[SpaceMember]:
    """The people and then the groups that a space is given to."""
    with connection.cursor(row_factory=class_row(SpaceMember)) as cursor:
        return cursor.execute(sql.LIST_MEMBERS, {"tenant": tenant, "id": space}).fetchall()


def role_of(connection: Connected, tenant: str, space: int, who: Member) -> SpaceRole | None:
    """The role that ``who``, named by an id, was given in a space; None: it is not theirs."""
    values = {"tenant": tenant, "id": space, **who.values()}
    row = connection.execute(sql.ROLE_OF_MEMBER, values).fetchone()
    return None if row is None else row[0]


def editable_now(connection: Connected, tenant: str, owner: str, spaces: Spaces) -> Spaces:
    """The part of ``spaces`` that ``owner``, as ``Reach`` names one, may still change."""
    kind, _, number = owner.partition(":")
    values = {"tenant": tenant, "person": None, "key": None} | {kind: int(number)}
    row = connection.execute(sql.EDITABLE_NOW, values).fetchone()
    return within_both(spaces, () if row is None else row[0])


def is_editor(connection: Connected, tenant: str, space: int, person_id: int) -> bool:
    """True if a space was given to a person as its editor, by themselves or in a group."""
    values = {"tenant": tenant, "id": space, "person": person_id}
    row = connection.execute(sql.IS_EDITOR, values).fetchone()
    return row is not None and bool(row[0])


def readable_by(connection: Connected, tenant: str, person_id: int, role: str) -> Spaces:
    """The spaces whose documents a member of the tenant reads now; None: all documents."""
    values = {"tenant": tenant, "person": person_id, "role": role}
    row = connection.execute(sql.READABLE_BY, values).fetchone()
    return None if row is None or row[0] is None else tuple(row[0])


def place_document(
    connection: Connected,
    document_id: int,
    *,
    tenant: str,
    add: Sequence[int] = (),
    remove: Spaces = (),
) -> None:
    """Put a document into the spaces ``add``, and take it out of ``remove`` (None: all others).

    Raises:
        NotFound: there is no such document.
        Conflict: it would stand in no space.
    """
    from helix.library.documents import no_document  # it loads what a list of keys need not

    values: dict[str, Any] = {"tenant": tenant, "id": document_id}
    row = connection.execute(sql.HOLD, values).fetchone()
    if row is None:
        raise no_document(document_id)
    leaves = set(row[0] if remove is None else remove) - set(add)
    spaces = [space for space in dict.fromkeys([*row[0], *add]) if space not in leaves]
    if not spaces:
        raise Conflict("it stands in no other space: put it into one, or delete it")
    if spaces != row[0]:
        connection.execute(sql.PLACE, values | {"spaces": spaces})
