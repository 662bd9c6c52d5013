"""Multipart forms, spooled to disk, refused once over a limit; names of files in headers."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Any, Literal
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from helix.errors import BadRequest
from helix.library.errors import TooLarge
from helix.library.uploads import clean_name
from helix.overload.limits import MEGABYTE, limit_body

# https://html.spec.whatwg.org/#multipart-form-data: these three alone, and not the percent sign
_ESCAPES = {"%22": '"', "%0D": "\r", "%0A": "\n"}
_ESCAPE = re.compile("|".join(_ESCAPES), re.IGNORECASE)
_BEYOND_PLAIN = re.compile(r'[^ -~]|["%/\\]')
_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[BbQq]\?[^?]*\?=")


def extended_name(disposition: bytes) -> str | None:
    """The name in ``filename*`` of a part's Content-Disposition (RFC 5987); None: it has none."""
    if b"*" not in disposition:
        return None
    message = Message()
    message["Content-Disposition"] = disposition.decode("latin-1")
    for key, value in message.get_params([], "content-disposition"):
        if key.lower() == "filename" and isinstance(value, tuple):
            with suppress(MessageError, LookupError, ValueError):  # then the plain name counts
                return collapse_rfc2231_value(value) or None
    return None


def plain_name(written: str) -> str:
    """The name that ``filename`` writes: with a browser's escapes, or as RFC 2047 encodes words."""
    if _ENCODED_WORD.search(written):
        try:
            return str(make_header(decode_header(written)))
        except (MessageError, LookupError, ValueError):
            return written
    return _ESCAPE.sub(lambda found: _ESCAPES[found[0].upper()], written)


def disposition(way: Literal["attachment", "inline"], name: str) -> str:
    """The Content-Disposition of a file called ``name``, for clients of either form (RFC 6266)."""
    apart = unicodedata.normalize("NFKD", name)
    bare = "".join(each for each in apart if not unicodedata.combining(each))
    plain = _BEYOND_PLAIN.sub("_", bare)
    return f"{way}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


_MAX_FIELDS = 100


@dataclass(frozen=True)
class FormLimits:
    """Limits of a form in bytes, for each file and for the whole request, and of its files' number.

    ``usage`` ends the error for a request without a form; ``remedy`` ends the one for a file over
    its limit.
    """

    file_bytes: int
    files: int
    request_bytes: int
    usage: str
    remedy: str


def form_body(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI description of a form with these fields; ``required`` names some, in words."""
    schema = {"type": "object", "required": required.split(), "properties": properties}
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


class _LimitedParser(MultiPartParser):
    """Starlette's parser, which has no limit on a file, takes a form that breaks off, and reads one
    way to write a name."""

    limits: FormLimits
    ended = False
    _part_bytes = 0

    def on_part_begin(self) -> None:
        self._part_bytes = 0
        super().on_part_begin()

    def on_headers_finished(self) -> None:
        part = self._current_part
        given = part.content_disposition or b""
        extended = extended_name(given)
        if extended is not None:
            part.content_disposition = given + b'; filename=""'  # Starlette reads no other
        super().on_headers_finished()
        if part.file is not None:
            part.file.filename = extended or plain_name(part.file.filename or "")

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._part_bytes += end - start
        file = self._current_part.file
        if file is not None and self._part_bytes > self.limits.file_bytes:
            limit = self.limits.file_bytes // MEGABYTE
            name = clean_name(file.filename or "")
            raise TooLarge(f"{name}: larger than {limit} MB, the limit: {self.limits.remedy}")
        super().on_part_data(data, start, end)

    def on_end(self) -> None:
        self.ended = True


async def read_form(request: Request, limits: FormLimits) -> FormData:
    """The request's form; the caller closes it.

    Raises:
        BadRequest: the request has no multipart form, or one that is cut or malformed.
        TooLarge: a file, or the request as a whole, is over its limit.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise BadRequest(f"no file came: send {limits.usage}")
    limit = limits.request_bytes // MEGABYTE
    too_large = TooLarge(
        f"the request is larger than {limit} MB, the limit: send fewer files at once"
    )
    stream = limit_body(request, limits.request_bytes, too_large).stream()
    parser = _LimitedParser(request.headers, stream, max_files=limits.files, max_fields=_MAX_FIELDS)
    parser.limits = limits
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise BadRequest(f"the request is no multipart/form-data: {error.message}") from None
    except (UnicodeError, LookupError):
        raise BadRequest("the request's fields are no text: send them in UTF-8") from None
    if not parser.ended:
        await form.close()
        raise BadRequest("the request ends in the middle of a file: send it again")
    return form


def named_tenant(form: FormData) -> str | None:
    """The tenant that ``form`` names; raises BadRequest where it names two."""
    named = {value for value in form.getlist("tenant_id") if isinstance(value, str)}
    if len(named) > 1:
        raise BadRequest("tenant_id is given twice, and not the same")
    return named.pop() if named else None
