"""The files of an upload, examined before any of them is stored."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from helix.errors import BadRequest, HelixError
from helix.library.access import Library
from helix.library.errors import UnsupportedMedia
from helix.library.paging import check_text
from helix.library.uploads import Upload, clean_name
from helix.media import problem, sniff
from helix.routes.forms import MEGABYTE, FormLimits, read_form
from helix.scope import checked_tags

MAX_FILES = 100
"""Files of one request."""
REQUEST_FILES = 4
"""A request may be as large as so many files of the largest size."""
_MAX_TITLE = 500
_MAX_URI_BYTES = 2000  # an index entry of Postgres has 2,704 at most


@dataclass(frozen=True)
class _Part:
    """A file that came, with the name it is known by and what it turned out to be."""

    name: str
    file: UploadFile

    def read(self) -> bytes:
        self.file.file.seek(0)
        return self.file.file.read()


@dataclass(frozen=True)
class _Wanted:
    """What the request asks for besides: see ``Upload``."""

    title: str | None
    source_uri: str | None
    tags: tuple[str, ...] | None


@dataclass(frozen=True)
class Sent:
    """What a request brought: the files, and the tenant that a field of it names, if one does."""

    uploads: list[Upload]
    tenant_id: str | None


@asynccontextmanager
async def uploads_of(request: Request, library: Library, max_file_mb: int) -> AsyncIterator[Sent]:
    """The files of a multipart request, ready to be stored; they are gone when the block ends.

    ``library`` only lends its threads.

    Raises:
        BadRequest: it is no multipart request with files, one of them is empty, or a field is
            malformed.
        TooLarge: a file, or the request as a whole, is over its limit.
        UnsupportedMedia: Helix does not read what a file is.
    """
    form = await read_form(request, _limits(max_file_mb * MEGABYTE))
    try:
        sent = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
        parts = [_Part(clean_name(file.filename or ""), file) for file in sent]
        if not parts:
            raise BadRequest("no file came: send them as multipart/form-data, field file")
        title = _field(form, parts, "title", _MAX_TITLE)
        source_uri = _field(form, parts, "source_uri", _MAX_URI_BYTES)
        if source_uri and len(source_uri.encode()) > _MAX_URI_BYTES:
            raise BadRequest(f"source_uri is longer than {_MAX_URI_BYTES} bytes")
        wanted = _Wanted(title, source_uri, _tags(form))
        yield Sent(await _examine(library, parts, wanted), _tenant_id(form))
    finally:
        await form.close()


def _limits(file_bytes: int) -> FormLimits:
    return FormLimits(
        file_bytes,
        files=MAX_FILES,
        request_bytes=file_bytes * REQUEST_FILES,
        sent="them as multipart/form-data, field file",
        remedy="nothing of this request was stored; split the file, or raise HELIX_MAX_FILE_MB",
    )


def _field(form: FormData, parts: list[_Part], name: str, limit: int) -> str | None:
    value = form.get(name)
    if not isinstance(value, str) or not (text := check_text(name, value, limit)):
        return None
    if len(parts) > 1:
        raise BadRequest(f"{name} goes with one file: send the {len(parts)} files one by one")
    return text


def _tags(form: FormData) -> tuple[str, ...] | None:
    """Those of every field ``tags``, or None where there is no such field; a blank one is none."""
    sent = [value for value in form.getlist("tags") if isinstance(value, str)]
    return checked_tags(tag for tag in sent if tag.strip()) if sent else None


def _tenant_id(form: FormData) -> str | None:
    sent = {value for value in form.getlist("tenant_id") if isinstance(value, str)}
    if len(sent) > 1:
        raise BadRequest("tenant_id is given twice, and not the same")
    return sent.pop() if sent else None


async def _examine(library: Library, parts: list[_Part], wanted: _Wanted) -> list[Upload]:
    uploads: list[Upload] = []
    problems: list[HelixError] = []
    for part in parts:
        found = await library.aside(partial(_look_into, part, wanted))
        if isinstance(found, HelixError):
            problems.append(found)
        else:
            uploads.append(found)
    if problems:
        raise type(problems[0])("; ".join(map(str, problems)))
    return uploads


def _look_into(part: _Part, wanted: _Wanted) -> Upload | HelixError:
    data = part.read()
    if not data:
        return BadRequest(f"{part.name}: the file is empty")
    kind = sniff(data, part.name)
    if kind is None:
        return UnsupportedMedia(f"{part.name}: {problem(data, part.name)}")
    digest = hashlib.sha256(data).hexdigest()
    return Upload(
        part.name, kind, len(data), digest, part.read, wanted.title, wanted.source_uri, wanted.tags
    )
