"""Names of files in headers: read in the ways that clients write them, and written for clients."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Literal
from urllib.parse import quote

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
