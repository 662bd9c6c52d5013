"""/v1/sources: where documents come from and stay in step with."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from helix.domain.source_kinds import COMMON_OPTIONS, KINDS, SECONDS_BETWEEN, Kind
from helix.errors import BadRequest
from helix.library.access import Connected, Row
from helix.library.source_forms import checked_secrets
from helix.library.source_secrets import seal
from helix.library.sources import (
    add_source,
    change_source,
    get_source,
    list_sources,
    pause_source,
    remove_source,
    start_sync,
)
from helix.library.spaces import no_space
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller, OtherSpace

router = APIRouter(prefix="/v1/sources", tags=["sources"], route_class=ApiRoute)

Texts = list[str] | None
Whole = Annotated[int, Field(strict=True, ge=0, le=2**53)]


class SourceChange(BaseModel):
    """Changes of a source; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    address: str | None = None
    options: dict[str, Any] | None = Field(None, description="As its kind has them")
    secrets: dict[str, str] | None = Field(
        None, description="Stored encrypted (HELIX_SECRETS_KEY), and never told again"
    )
    include: Texts = Field(None, description="Globs of the files to take; none: all")
    exclude: Texts = Field(None, description="Globs of the files to leave, above `include`")
    max_bytes: Whole | None = Field(None, description="Larger files are left; 0: none is")
    max_age_days: Whole | None = Field(None, description="Older files are left; 0: none is")
    spaces: list[Whole] | None = Field(None, description="Ids of the spaces that they stand in")
    tags: Texts = None
    metadata: dict[str, Any] | None = None
    folder_keys: Texts = Field(
        None, description="Metadata that the names of folders are, outermost first"
    )
    group_map: dict[str, list[Whole]] | None = Field(
        None, description="By groups and persons of the source, ids of spaces"
    )
    every_seconds: Whole | None = Field(None, description="Between two syncs; 0: when asked to")
    follow_removals: bool | None = Field(
        None, description="Documents go whose file is gone at the source"
    )
    paused: bool | None = Field(None, description="True: no sync begins by itself")
    tenant_id: str | None = None

    def given(self) -> Row:
        """The columns that are given, but for secrets."""
        left = {"tenant_id", "secrets", "paused"}
        return self.model_dump(exclude=left, exclude_none=True)


class NewSource(SourceChange):
    """A source to add."""

    name: str
    kind: str
    address: str


class SyncRequest(BaseModel):
    """A sync to start."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = Field(False, description="Only tell, as `preview`, what it would do")
    yes: bool = Field(False, description="Remove what waits, where it is still gone")
    again: bool = Field(False, description="Read what failed, or was deleted here, again")
    tenant_id: str | None = None


_USUAL = SyncRequest()


@router.get("", summary="List sources")
async def sources(caller: CurrentCaller) -> JSONResponse:
    """List those whose spaces may all be read, with what a source can be as `kinds`."""
    kinds = [_told_kind(name, kind) for name, kind in KINDS.items()]
    return JSONResponse({"sources": await list_sources(caller.library), "kinds": kinds})


@router.post("", summary="Add a source", status_code=201)
async def add(caller: CurrentCaller, new: NewSource) -> JSONResponse:
    """Add one, which is brought in at once; `409` where there is one of this name.

    Folders are those of `HELIX_SOURCE_FOLDERS`, private hosts those of `HELIX_ALLOW_HOSTS`.
    """
    caller = caller.for_tenant(new.tenant_id)
    library, given = caller.library.whole, new.given()
    given.setdefault("every_seconds", SECONDS_BETWEEN)
    _place(caller, given, is_new=True)
    if new.secrets:
        secrets = checked_secrets(new.kind, new.secrets)
        given["secrets"] = seal(caller.services.settings, secrets)

    def make(connection: Connected) -> int:
        number = add_source(connection, library.tenant, given, trusted=False)
        if new.paused:
            pause_source(connection, library.tenant, number, True)
        else:
            start_sync(connection, library.tenant, number)
        return number

    number = await library.change(make)
    caller.changed(f"source {number}")
    caller.services.on_run_created()
    return JSONResponse(await get_source(library, number), 201)


@router.get("/{source_id}", summary="One source")
async def source(caller: CurrentCaller, source_id: int) -> Row:
    """Tell how it stands: what is gone and waits, what could not be read, the last preview."""
    return await get_source(caller.library, source_id)


@router.patch("/{source_id}", summary="Change a source")
async def change(caller: CurrentCaller, source_id: int, changed: SourceChange) -> Row:
    """Change it; other spaces and tags are its documents' at once, the rest with the next sync."""
    caller = caller.for_tenant(changed.tenant_id)
    before = await get_source(caller.library, source_id)
    library, given = caller.library.whole, changed.given()
    _place(caller, given, is_new=False)
    if changed.secrets:
        secrets = checked_secrets(before["kind"], changed.secrets)
        given["secrets"] = seal(caller.services.settings, secrets)
    if not given and changed.paused is None:
        raise BadRequest("nothing to change: send what is to be other than it is")

    def apply(connection: Connected) -> None:
        if given:
            change_source(connection, library.tenant, source_id, given, trusted=False)
        if changed.paused is not None:
            pause_source(connection, library.tenant, source_id, changed.paused)

    await library.change(apply)
    caller.changed(f"source {source_id}")
    return await get_source(caller.library, source_id)


@router.delete("/{source_id}", summary="Remove a source")
async def remove(caller: CurrentCaller, source_id: int, keep_documents: bool = False) -> Row:
    """Remove it with its documents, by a run, or leave these in the library (`run_id` is null)."""
    await get_source(caller.library, source_id)
    library = caller.library.whole
    caller.changed(f"source {source_id}")
    if keep_documents:
        await library.change(partial(remove_source, tenant=library.tenant, source_id=source_id))
        return {"run_id": None}
    return {"run_id": await _started(caller, source_id, remove=True)}


@router.post("/{source_id}/sync", summary="Sync a source", status_code=202)
async def sync(
    caller: CurrentCaller, source_id: int, asked: Annotated[SyncRequest, Body()] = _USUAL
) -> Row:
    """Start the run that brings it in step; the one under way for the same, if there is.

    `409` where another sync of it is under way; `403` for who may read its documents only.
    """
    caller = caller.for_tenant(asked.tenant_id)
    found = await get_source(caller.library, source_id)
    if not all(map(caller.may_edit, found["spaces"])):
        raise OtherSpace("you may read what this source brings, and not change it")
    options = asked.model_dump(exclude={"tenant_id"})
    return {"run_id": await _started(caller, source_id, **options)}


async def _started(caller: Caller, source_id: int, **options: bool) -> int:
    library = caller.library.whole

    def start(connection: Connected) -> int:
        return start_sync(connection, library.tenant, source_id, **options)[0]

    run_id = await library.change(start)
    caller.changed(f"run {run_id} of source {source_id}")
    caller.services.on_run_created()
    return run_id


def _place(caller: Caller, given: Row, *, is_new: bool) -> None:
    """Return where the caller may put documents into the spaces that are ``given``.

    Raises:
        NotFound: it may not read one of them.
        OtherSpace: it may read some documents only, and maps readers to spaces.
    """
    reach = caller.reach.spaces
    if reach is None:
        return
    if given.get("group_map"):
        raise OtherSpace("readers of a source are mapped to spaces by who reads the whole library")
    if is_new and (own := caller.writable_space()) is not None:
        given.setdefault("spaces", [own])
    for space in given.get("spaces", ()):
        if space not in reach:
            raise no_space(space)


def _told_kind(name: str, kind: Kind) -> Row:
    options = [asdict(option) for option in (*kind.options, *COMMON_OPTIONS)]
    return {
        "name": name, "title": kind.title, "address": kind.address, "example": kind.example,
        "options": options,
    }  # fmt: skip
