"""A mail as documents: its text under its head, and each file that is attached to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from imap_tools import MailMessage

from pipelines.sources.metadata import valid_metadata

_LONGEST_NAME = 120
_ID = re.compile(r"<([^<>\s]+)>")


@dataclass(frozen=True, slots=True)
class Part:
    """One document of a mail; ``number`` 0 is the mail's text, the others are attached files."""

    number: str
    name: str
    data: bytes
    date: datetime | None
    metadata: dict[str, Any]
    message_id: str


def parts_of(message: MailMessage) -> list[Part]:
    """The documents of a mail; the same bytes for the same mail, in whatever folder it lies."""
    date = message.date if message.date_str and message.date.tzinfo else None
    ids = _thread_of(message)
    metadata = valid_metadata(
        {
            "subject": message.subject,
            "from": message.from_,
            "to": list(message.to),
            "cc": list(message.cc),
            "date": date,
            **ids,
        }
    )
    name, data = _text_of(message)
    found = [(name, data, metadata)]
    for attachment in message.attachments:
        if attachment.filename and attachment.payload:
            file_name = attachment.filename.replace("/", "-")[-_LONGEST_NAME:]
            found.append(
                (
                    file_name,
                    attachment.payload,
                    {**metadata, **valid_metadata({"attachment": file_name})},
                )
            )
    return [
        Part(str(number), name, data, date, metadata, str(ids["message_id"]))
        for number, (name, data, metadata) in enumerate(found)
    ]


def _thread_of(message: MailMessage) -> dict[str, Any]:
    """The ids that tell a conversation: the mail's own, those before it, and the first's."""
    own = _ids(message, "message-id")[:1]
    before = _ids(message, "references") or _ids(message, "in-reply-to")
    return {
        "message_id": own[0] if own else "",
        "in_reply_to": (_ids(message, "in-reply-to") or [""])[0],
        "references": before,
        "thread": (before + own + [""])[0],
    }


def _ids(message: MailMessage, header: str) -> list[str]:
    headers: Mapping[str, Sequence[str]] = message.headers
    values = headers.get(header, ())
    found: list[str] = _ID.findall(" ".join(str(value) for value in values))
    return found


def _text_of(message: MailMessage) -> tuple[str, bytes]:
    """(name, bytes) of a mail's own text: plain where it has plain text, else HTML."""
    subject = " ".join(message.subject.split()) or "no subject"
    name = subject.replace("/", "-")[:_LONGEST_NAME]
    head = [("Subject", subject), ("From", message.from_), ("To", ", ".join(message.to))]
    head = [*head, ("Cc", ", ".join(message.cc)), ("Date", message.date_str)]
    lines = [f"{title}: {' '.join(value.split())}" for title, value in head if value.strip()]
    if message.text.strip() or not message.html.strip():
        text = "\n".join([*lines, "", message.text.replace("\r\n", "\n").strip(), ""])
        return f"{name}.txt", text.encode(errors="replace")
    top = "<br>".join(escape(line) for line in lines[1:])
    return f"{name}.html", (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(subject)}</title></head>'
        f"<body><h1>{escape(subject)}</h1><p>{top}</p>\n{message.html}</body></html>"
    ).encode(errors="replace")
