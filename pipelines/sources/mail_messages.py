"""A mail as documents: its text under its head, and each file that is attached to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from imap_tools import MailMessage

from pipelines.readers.mail import date_of, field, head_lines, metadata_of
from pipelines.valid_metadata import valid_metadata

_LONGEST_NAME = 120


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
    date, metadata = date_of(message.obj), metadata_of(message.obj)
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
        Part(str(number), name, data, date, metadata, str(metadata.get("message_id", "")))
        for number, (name, data, metadata) in enumerate(found)
    ]


def _text_of(message: MailMessage) -> tuple[str, bytes]:
    """(name, bytes) of a mail's own text: plain where it has plain text, else HTML."""
    lines, subject = head_lines(message.obj), field(message.obj, "Subject") or "no subject"
    name = subject.replace("/", "-")[:_LONGEST_NAME]
    if message.text.strip() or not message.html.strip():
        text = "\n".join([*lines, "", message.text.replace("\r\n", "\n").strip(), ""])
        return f"{name}.txt", text.encode(errors="replace")
    top = "<br>".join(escape(line) for line in lines if not line.startswith("Subject: "))
    return f"{name}.html", (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(subject)}</title></head>'
        f"<body><h1>{escape(subject)}</h1><p>{top}</p>\n{message.html}</body></html>"
    ).encode(errors="replace")
