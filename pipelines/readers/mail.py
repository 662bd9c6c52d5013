"""The parts of a mail (RFC 5322, MIME): its head, its bodies, and the files attached to it."""

from __future__ import annotations

import codecs
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any

from pipelines.readers import UnreadableFile
from pipelines.readers.plain_text import decode
from pipelines.valid_metadata import valid_metadata

Mail = Message
_ID = re.compile(r"<([^<>\s]+)>")
_MAIL = "message/rfc822"
_SHOWN = ("From", "To", "Cc")
_LONGEST = 100_000  # characters of a field: some thousand people; longer ones take minutes
_LONGEST_OF_PART = 2_000  # characters: the names of a file, coded, and a boundary
_OF_PART = ("content-type", "content-disposition")
_MOST_FIELDS = 100  # of one name, of which a mail has one
TOO_DEEP = "its parts are nested too deep: forward it as a plain mail"
_NO_CHARSETS = frozenset(("idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined"))
"""Python's names of what it decodes beside charsets: the second takes quadratic time."""


class _Bounded(Compat32):
    """Fields that say what a part is are cut: their parameters take quadratic time, or more."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """The name and the value of a field."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_OF_PART] if name.lower() in _OF_PART else value


_BOUNDED = _Bounded()


def mail_of(data: bytes) -> Mail:
    """Raises UnreadableFile for parts nested beyond what the parser takes."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    try:
        return message_from_bytes(data, policy=_BOUNDED)
    except RecursionError:
        raise UnreadableFile(TOO_DEEP) from None


def field(mail: Mail, name: str) -> str:
    """A field of the head in one line; '' without one."""
    return " ".join(_decoded(mail, mail.get(name, "")).split())


def head_lines(mail: Mail) -> list[str]:
    """The head as people read it: subject, from whom to whom, when, and the files' names."""
    told = [("Subject", field(mail, "Subject"))]
    for name in _SHOWN:
        people = ", ".join(map(_shown, _people(mail, name)))
        told.append((name, people or field(mail, name)))
    told += [("Date", field(mail, "Date"))]
    told += [("Attachments", ", ".join(filter(None, (file_name(one) for one in files(mail)))))]
    return [f"{name}: {text}" for name, text in told if text]


def date_of(mail: Mail) -> datetime | None:
    """The moment when it was sent; None without one in a known time zone."""
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        date = parsedate_to_datetime(field(mail, "Date"))
        return date if date.tzinfo else None
    return None


def metadata_of(mail: Mail) -> dict[str, Any]:
    """Subject, people, date, and the ids of its conversation: its own, those before, the first."""
    own = _ids(mail, "Message-ID")[:1]
    replied = _ids(mail, "In-Reply-To")
    before = _ids(mail, "References") or replied
    return valid_metadata(
        {
            "subject": field(mail, "Subject"),
            "from": next((address for _, address in _people(mail, "From")), ""),
            "to": [address for _, address in _people(mail, "To")],
            "cc": [address for _, address in _people(mail, "Cc")],
            "date": date_of(mail),
            "message_id": "".join(own),
            "in_reply_to": (*replied, "")[0],
            "references": before,
            "thread": (*before, *own, "")[0],
        }
    )


def parts(mail: Mail, *, alternatives: bool = False) -> Iterator[Mail]:
    """The parts that are no containers, in order; a mail within is one.

    Alternatives are one, too, or where it is asked for each part in them.
    """
    is_container = mail.get_content_maintype() == "multipart" and mail.is_multipart()
    if is_container and (alternatives or mail.get_content_subtype() != "alternative"):
        for part in mail.get_payload():
            if isinstance(part, Message):
                yield from parts(part, alternatives=alternatives)
    else:
        yield mail


def mail_within(part: Mail) -> Mail | None:
    """The mail that a part is; in base64 too, which RFC 2046 forbids and some programs send."""
    inner = (
        part.get_payload(0) if part.get_content_type() == _MAIL and part.is_multipart() else None
    )
    if not isinstance(inner, Message):
        return None
    coded, coding = inner.get_payload(), str(part.get("Content-Transfer-Encoding", ""))
    if isinstance(coded, str) and not inner.keys() and coding.strip().lower() == "base64":
        with suppress(ValueError):
            return mail_of(b64decode(coded))
    return inner


def files(mail: Mail) -> Iterator[Mail]:
    """The parts that are files beside the text; neither mails nor the pictures in the text."""
    for part in parts(mail, alternatives=True):
        is_attached = part.get_content_disposition() == "attachment"
        is_shown = part.get_content_maintype() == "image" and part.get("Content-ID")
        is_file = part.get_filename() and part.get_content_maintype() != "message"
        if is_file and (is_attached or not is_shown):
            yield part


def file_name(part: Mail) -> str:
    """The name of an attached file; '' without one."""
    return " ".join(_decoded(part, part.get_filename("")).split())


def bytes_of(part: Mail) -> bytes:
    """The content of a part that is no container."""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _people(mail: Mail, name: str) -> list[tuple[str, str]]:
    """The names and addresses in a field; without an address there is nobody."""
    told = mail.get_all(name, [])[:_MOST_FIELDS]
    fields = [one[:_LONGEST] if isinstance(one, str) else _decoded(mail, one) for one in told]
    with suppress(RecursionError):  # comments in comments
        found = getaddresses(fields)
        return [(_decoded(mail, who), address) for who, address in found if address]
    return []


def _shown(person: tuple[str, str]) -> str:
    name, address = person
    return f"{name} <{address}>" if name and name != address else address


def _ids(mail: Mail, name: str) -> list[str]:
    return _ID.findall(str(mail.get(name, "")))


def _decoded(mail: Mail, text: Any) -> str:
    """The words of a field, in the encodings that it names; else in that of the mail's text."""
    try:
        found = decode_header(text[:_LONGEST] if isinstance(text, str) else text)
    except HeaderParseError:
        return str(text)
    own = mail.get_content_charset("")
    return "".join(
        piece if isinstance(piece, str) else in_charset(piece, (charset or "", own))
        for piece, charset in found
    )


def in_charset(data: bytes, charsets: Sequence[str]) -> str:
    """Bytes by the first encoding that fits: one named, UTF-8, or what the letters speak for."""
    for name in (*charsets[:1], "utf-8", *charsets[1:]):
        with suppress(LookupError, ValueError):
            if codecs.lookup(name or "ascii").name not in _NO_CHARSETS:
                return data.decode(name or "ascii")
    with suppress(UnreadableFile):
        return decode(data)
    return data.decode("cp1252", errors="replace")
