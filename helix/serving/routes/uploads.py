"""POST /v1/documents and …/samples: uploads, examined before any of them is stored."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from starlette.datastructures import FormData, UploadFile

from helix.domain.file_kinds import problem, sniff
from helix.domain.input_text import visible_line
from helix.domain.metadata import checked_metadata
from helix.domain.scope import checked_tags
from helix.errors import BadRequest, HelixError
from helix.library.access import Library, Row
from helix.library.errors import UnsupportedMedia
from helix.library.pagination import check_text
from helix.library.samples import sample_uploads
from helix.library.spaces import LONGEST_NAME
from helix.library.uploads import Upload, UploadResult, clean_name, store_uploads
from helix.overload.entry import asker
from helix.overload.limits import MEGABYTE
from helix.serving.authentication import CurrentCaller, FormRoute
from helix.serving.caller import Caller
from helix.serving.forms import FormLimits, form_body, named_tenant, read_form
from helix.serving.storage_quota import within_quota

MAX_FILES = 100
"""Files of one request."""
REQUEST_FILES = 4
"""A request may be as large as so many files of the largest size."""
_MAX_TITLE = 500
_MAX_URI_BYTES = 2000  # an index entry of Postgres has 2,704 at most

_TEXT = {"type": "string"}
_BODY = form_body(
    "file",
    file={"type": "array", "items": {"type": "string", "format": "binary"}},
    title=_TEXT | {"description": "of the one file"},
    source_uri=_TEXT | {"description": "of the one file"},
    tags={"type": "array", "items": _TEXT},
    metadata=_TEXT | {"description": 'of all files, a JSON object: {"year": 2024}'},
    space=_TEXT | {"description": "that they stand in: its id or name; else the library"},
    tenant_id=_TEXT,
)

router = APIRouter(prefix="/v1", tags=["documents"], route_class=FormRoute)


@router.post(
    "/documents",
    summary="Upload documents",
    status_code=202,
    openapi_extra=_BODY,
    responses={
        200: {"description": "All of it is there already, and readable"},
        400: {"description": "No file, or an empty one"},
        413: {"description": "A file is over the limit of bytes"},
        415: {"description": "A file is of no kind that Helix reads"},
    },
)
async def upload(
    request: Request,
    caller: CurrentCaller,
    partial_: Annotated[
        bool, Query(alias="partial", description="Store the others where a file is refused")
    ] = False,
) -> JSONResponse:
    """Store the files and start one run that reads them. The same bytes are stored once.

    With `partial` the answer has `refused`, `[{"name", "reason"}]`; without it all are or none.
    """
    services = caller.services
    await asker(request).check_upload(_declared(request))
    form = await read_form(request, upload_limits(services.settings.max_file_mb * MEGABYTE))
    try:
        caller = caller.for_tenant(named_tenant(form))
        caller = await caller.in_space(_text(form, 1, "space", LONGEST_NAME))
        library, counted = caller.library, asker(request)
        uploads, refused = await examine(library, form)
        if refused and not partial_:
            error = type(refused[0][1])
            raise error("; ".join(str(problem) for _, problem in refused))
        size = sum(each.size for each in uploads)
        async with counted.upload(size):
            stored = await store(caller, uploads)
    finally:
        await form.close()
    return _answer(stored, refused if partial_ else None)


def _declared(request: Request) -> int:
    """The length that the request says its body has; 0 where it says none, or no number."""
    said = request.headers.get("content-length", "")
    return int(said) if said.isdecimal() and len(said) < 16 else 0


async def store(caller: Caller, uploads: list[Upload]) -> UploadResult:
    """Store ``uploads`` where the tenant has room for them, and have them read."""
    library = caller.library.whole
    uploads = [placed(caller, upload) for upload in uploads]
    action = within_quota(
        caller.services.settings, library.tenant,
        partial(store_uploads, uploads=uploads, tenant=library.tenant),
        grows=lambda stored: stored.run_id is not None,
    )  # fmt: skip
    async with library.memory_for(sum(each.size for each in uploads)):
        stored = await library.change(action)
    caller.changed("" if stored.run_id is None else f"run {stored.run_id}")
    if stored.run_id is not None:
        caller.services.on_run_created()
    return stored


def placed(caller: Caller, upload: Upload) -> Upload:
    """``upload`` with the space that it is to stand in, compared with what ``caller`` may read.

    Raises:
        BadRequest: it names a source_uri, which may be that of a document of another space.
        OtherSpace: there is no space that it could stand in.
    """
    space = caller.writable_space()
    if space is None:
        return upload
    if upload.source_uri and caller.spaces is not None:
        raise BadRequest("source_uri is for who reads the whole library: leave it out")
    return replace(upload, space=space, sees=caller.edits)


def _answer(
    stored: UploadResult, refused: list[tuple[str, HelixError]] | None = None
) -> JSONResponse:
    told: Row = {"run_id": stored.run_id, "documents": stored.documents}
    if refused is not None:
        told["refused"] = [{"name": name, "reason": str(problem)} for name, problem in refused]
    return JSONResponse(told, status_code=200 if stored.run_id is None else 202)


@router.post(
    "/documents/samples",
    summary="Bring in the samples",
    status_code=202,
    responses={
        200: {"description": "They are there already"},
        404: {"description": "This installation came without them"},
    },
)
async def samples(caller: CurrentCaller) -> JSONResponse:
    """Upload the sample documents that come with Helix: a library to try it with."""
    uploads = await caller.library.aside(sample_uploads)
    return _answer(await store(caller, uploads))


def upload_limits(file_bytes: int, files: int = MAX_FILES) -> FormLimits:
    """The limits of a form with at most so many files of so many bytes."""
    return FormLimits(
        file_bytes,
        files=files,
        request_bytes=file_bytes * REQUEST_FILES,
        usage="them as multipart/form-data, field file",
        remedy="nothing of this request was stored; split the file, or raise HELIX_MAX_FILE_MB",
    )


async def examine(
    library: Library, form: FormData
) -> tuple[list[Upload], list[tuple[str, HelixError]]]:
    """The files of ``form``, each read once in a thread: its kind and its hash.

    Those that are refused are named apart: they are empty, or nothing that Helix reads.

    Raises:
        BadRequest: there is no file, or a field is malformed.
    """
    files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
    if not files:
        raise BadRequest("no file came: send them as multipart/form-data, field file")
    title = visible_line(_text(form, len(files), "title", _MAX_TITLE) or "") or None
    source_uri = _text(form, len(files), "source_uri", _MAX_URI_BYTES)
    if source_uri and len(source_uri.encode()) > _MAX_URI_BYTES:
        raise BadRequest(f"source_uri is longer than {_MAX_URI_BYTES} bytes")
    tags, metadata = _tags(form), _metadata(form)
    uploads: list[Upload] = []
    refused: list[tuple[str, HelixError]] = []
    for file in files:
        try:
            async with library.memory_for(file.size or 0):
                found = await library.aside(partial(_inspect, file))
            uploads.append(
                replace(found, title=title, source_uri=source_uri, tags=tags, metadata=metadata)
            )
        except HelixError as error:
            refused.append((clean_name(file.filename or ""), error))
    return uploads, refused


def _text(form: FormData, files: int, name: str, limit: int) -> str | None:
    """The text field ``name``, which only a form with one file may have."""
    value = form.get(name)
    if not isinstance(value, str) or not (text := check_text(name, value, limit)):
        return None
    if files > 1:
        raise BadRequest(f"{name} goes with one file: send the {files} files one by one")
    return text


def _tags(form: FormData) -> tuple[str, ...] | None:
    """The tags of every field ``tags``, blank ones left out; None where there is no such field."""
    tags = [value for value in form.getlist("tags") if isinstance(value, str)]
    return checked_tags(tag for tag in tags if tag.strip()) if tags else None


def _metadata(form: FormData) -> Row | None:
    """The field ``metadata``, a JSON object; None where there is none."""
    text = form.get("metadata")
    if not isinstance(text, str) or not text.strip():
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BadRequest('metadata is no JSON object, such as {"year": 2024}')
    return checked_metadata(given)


def _inspect(file: UploadFile) -> Upload:
    name = clean_name(file.filename or "")

    def read() -> bytes:
        file.file.seek(0)
        return file.file.read()

    data = read()
    if not data:
        raise BadRequest(f"{name}: the file is empty")
    kind = sniff(data, name)
    if kind is None:
        raise UnsupportedMedia(f"{name}: {problem(data, name)}")
    return Upload(name, kind, len(data), hashlib.sha256(data).hexdigest(), read)
