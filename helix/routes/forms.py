"""Multipart forms: parts spooled to disk, refused as soon as one is over its limit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from helix.errors import BadRequest
from helix.library.errors import TooLarge
from helix.library.uploads import clean_name

MEGABYTE = 2**20
_MAX_FIELDS = 100


@dataclass(frozen=True)
class FormLimits:
    """What a form may bring.

    ``file_bytes`` is for each file, ``files`` how many; together they may be ``request_bytes``.
    ``sent`` ends the line that a request without a form is refused with, ``remedy`` the one that
    a file over its limit is.
    """

    file_bytes: int
    files: int
    request_bytes: int
    sent: str
    remedy: str


class _LimitedParser(MultiPartParser):
    """Starlette's parser, which limits everything but the size of a file."""

    limits: FormLimits
    ended = False
    _part_bytes = 0

    def on_part_begin(self) -> None:
        self._part_bytes = 0
        super().on_part_begin()

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._part_bytes += end - start
        file = self._current_part.file
        if file is not None and self._part_bytes > self.limits.file_bytes:
            raise _too_large(file, self.limits)
        super().on_part_data(data, start, end)

    def on_end(self) -> None:
        self.ended = True


async def read_form(request: Request, limits: FormLimits) -> FormData:
    """The form that came; its reader closes it.

    Raises:
        BadRequest: it is no multipart request, or it is cut or malformed.
        TooLarge: a file, or the request as a whole, is over its limit.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise BadRequest(f"no file came: send {limits.sent}")
    length = request.headers.get("content-length", "")
    given = length.isascii() and length.isdigit()
    if given and (len(length) > 15 or int(length) > limits.request_bytes):
        raise _request_too_large(limits)
    parser = _LimitedParser(
        request.headers, _limited(request, limits), max_files=limits.files, max_fields=_MAX_FIELDS
    )
    parser.limits = limits
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise BadRequest(f"the request is no multipart/form-data: {error.message}") from None
    except (UnicodeError, LookupError):
        raise BadRequest("the request's fields are no text: send them in UTF-8") from None
    except ClientDisconnect:
        raise BadRequest("the client left before all had come") from None
    if not parser.ended:
        await form.close()
        raise BadRequest("the request ends in the middle of a file: send it again")
    return form


async def _limited(request: Request, limits: FormLimits) -> AsyncGenerator[bytes, None]:
    came = 0
    async for chunk in request.stream():
        came += len(chunk)
        if came > limits.request_bytes:
            raise _request_too_large(limits)
        yield chunk


def _too_large(file: UploadFile, limits: FormLimits) -> TooLarge:
    name = clean_name(file.filename or "")
    limit = limits.file_bytes // MEGABYTE
    return TooLarge(f"{name}: larger than {limit} MB, the limit: {limits.remedy}")


def _request_too_large(limits: FormLimits) -> TooLarge:
    limit = limits.request_bytes // MEGABYTE
    return TooLarge(f"the request is larger than {limit} MB, the limit: send fewer files at once")
