"""Many documents changed by one request: each in a transaction of its own, each with its outcome.

Nothing half-applies: a document is changed as a whole or not at all, and the report says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from helix.domain.scope import checked_tags
from helix.errors import HelixError
from helix.library.access import Library
from helix.library.document_edits import edit_document
from helix.library.documents import (
    no_document,
    not_editable,
    remove_document,
    tag_document,
)
from helix.library.reingestion import reread_all
from helix.storage.connections import Connected
from helix.storage.statements import documents as sql

MOST = 1000
"""Documents of one request."""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a request: the error of each document, None where there is none.

    ``same`` are those that were as they are to be before.
    """

    errors: dict[int, str | None]
    runs: list[int] = field(default_factory=list)
    same: frozenset[int] = frozenset()

    @property
    def changed(self) -> int:
        """The number of documents that are other than before."""
        done = {number for number, error in self.errors.items() if error is None}
        return len(done - self.same)

    @classmethod
    def of(
        cls,
        ids: Sequence[int],
        outcomes: Sequence[HelixError | None],
        same: Iterable[int] = (),
    ) -> Report:
        """Build the report from the outcomes of ``Library.change_each``."""
        errors = {
            number: None if error is None else str(error)
            for number, error in zip(ids, outcomes, strict=True)
        }
        return cls(errors, same=frozenset(same))


async def change_readable(
    library: Library, ids: Sequence[int], action: Callable[[Connected, int], object]
) -> list[HelixError | None]:
    """``change_each`` of those that may be read; the others are as those that are not there."""
    return await _change_but(library, ids, await _hidden(library, ids), action)


async def _change_own(
    library: Library, ids: Sequence[int], action: Callable[[Connected, int], object]
) -> list[HelixError | None]:
    """``change_readable`` of those that may be changed."""
    return await _change_but(library, ids, await _kept_from(library, ids), action)


async def _change_but(
    library: Library,
    ids: Sequence[int],
    problems: Mapping[int, HelixError],
    action: Callable[[Connected, int], object],
) -> list[HelixError | None]:
    rest = [number for number in ids if number not in problems]
    outcomes = dict(zip(rest, await library.whole.change_each(rest, action), strict=True))
    return [problems[number] if number in problems else outcomes[number] for number in ids]


async def _hidden(library: Library, ids: Sequence[int]) -> dict[int, HelixError]:
    """The error of each that may not be read."""
    hidden = set() if library.reach.spaces is None else await library.unreadable(ids)
    return {number: no_document(number) for number in hidden}


async def _kept_from(library: Library, ids: Sequence[int]) -> dict[int, HelixError]:
    """The error of each that may not be changed."""
    hidden = await _hidden(library, ids)
    locked = await library.unchangeable(number for number in ids if number not in hidden)
    return {**hidden, **{number: not_editable(number) for number in locked}}


async def delete_documents(library: Library, ids: Sequence[int]) -> Report:
    """Delete each with all that only it used."""
    remove = partial(_remove, tenant=library.tenant)
    return Report.of(ids, await _change_own(library, ids, remove))


async def label_documents(
    library: Library, ids: Sequence[int], add: Sequence[str], remove: Sequence[str]
) -> Report:
    """Take the labels ``remove`` from each, and give it those of ``add`` that it lacks."""
    same: set[int] = set()
    relabel = partial(_relabel, add=add, remove=remove, tenant=library.tenant, same=same)
    return Report.of(ids, await _change_own(library, ids, relabel), same)


async def rename_documents(library: Library, titles: Mapping[int, str]) -> Report:
    """Give each its title, which it keeps when it is read again."""
    rename = partial(_rename, titles=titles, tenant=library.tenant)
    return Report.of(list(titles), await _change_own(library, list(titles), rename))


async def reread_documents(library: Library, ids: Sequence[int], web_imports: bool) -> Report:
    """Start one run for documents with kept bytes, and one for those fetched from the web."""
    kept_from = await _kept_from(library, ids)
    read = [number for number in ids if number not in kept_from]
    rereading = await library.whole.change(
        lambda connection: reread_all(connection, read, library.tenant, web_imports, library.reach)
    )
    problems = {**rereading.problems, **kept_from}
    errors = {number: problems.get(number) for number in ids}
    return Report(
        {number: None if error is None else str(error) for number, error in errors.items()},
        sorted(rereading.runs),
    )


def _remove(connection: Connected, document_id: int, *, tenant: str) -> None:
    remove_document(connection, document_id, tenant)


def _relabel(
    connection: Connected,
    document_id: int,
    *,
    add: Sequence[str],
    remove: Sequence[str],
    tenant: str,
    same: set[int],
) -> None:
    row = connection.execute(sql.HOLD_TAGS, (tenant, document_id)).fetchone()
    if row is None:
        raise no_document(document_id)
    remaining = [tag for tag in row[0] if tag not in remove]
    tags = checked_tags([*remaining, *add])
    if list(tags) == row[0]:
        same.add(document_id)
    else:
        tag_document(connection, document_id, tags, tenant)


def _rename(
    connection: Connected, document_id: int, *, titles: Mapping[int, str], tenant: str
) -> None:
    edit_document(connection, document_id, {"title": titles[document_id]}, tenant)
