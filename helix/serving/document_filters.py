"""The parameters of a request's address that say which documents it is about."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant

from helix.domain.conditions import written_conditions
from helix.domain.file_kinds import KINDS, media_of
from helix.domain.scope import checked_tags
from helix.errors import BadRequest
from helix.library.document_list import DocumentFilter, Status
from helix.library.pagination import check_text


def _wanted(
    q: Annotated[str, Query(description="A part of title, source_uri or file_name")] = "",
    status: Annotated[Status | None, Query()] = None,
    tag: Annotated[list[str] | None, Query(description="Of several, all must be there")] = None,
    company: Annotated[str, Query(description="Whose documents, by their facts")] = "",
    kind: Annotated[str, Query(description="Of which kind, by their facts: 10-Q")] = "",
    file_format: Annotated[
        list[str] | None, Query(alias="format", description="pdf, docx …; of several, any")
    ] = None,
    since: Annotated[datetime | None, Query(description="Stored then or later")] = None,
    until: Annotated[datetime | None, Query(description="Stored then or before")] = None,
    where: Annotated[
        list[str] | None,
        Query(description="Whose metadata fits: year>=2024, author=Smith, due, !draft"),
    ] = None,
) -> DocumentFilter:
    if strange := [kind for kind in file_format or () if media_of(kind) is None]:
        raise BadRequest(f"there is no format {min(strange)[:80]!r}: there are {', '.join(KINDS)}")
    for name, moment in (("since", since), ("until", until)):
        if moment is not None and moment.tzinfo is None:
            raise BadRequest(f"{name} lacks its offset: such as 2026-01-31T09:00:00Z")
    return DocumentFilter(
        check_text("q", q, 500),
        status,
        checked_tags(tag) if tag else None,
        check_text("company", company, 200),
        check_text("kind", kind, 100),
        tuple(file_format) if file_format else None,
        since,
        until,
        written_conditions(where or ()),
    )


def _known(request: Request) -> None:
    """Refuse a parameter that the route does not have: it would not narrow what is found."""
    known = _names(request.scope["route"].dependant)
    if strange := [name for name in request.query_params if name not in known]:
        raise BadRequest(
            f"{min(strange)[:80]} is no parameter of {request.url.path}:"
            f" there are {', '.join(sorted(known))}"
        )


def _names(dependant: Dependant) -> set[str]:
    own = {field.alias for field in dependant.query_params}
    return own.union(*map(_names, dependant.dependencies))


KNOWN_PARAMETERS = Depends(_known)
"""Has a route answer 400 to a parameter that it does not have."""
Narrowed = Annotated[DocumentFilter, Depends(_wanted)]
"""The documents that the request's parameters leave."""
