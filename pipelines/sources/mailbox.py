"""A mailbox by IMAP as a source: each message is a document, and each file attached to it.

A message is known by its folder, UIDVALIDITY and UID, so that one that was had is not fetched
again. Where a server numbers a folder anew, what it has is told by its bytes and Message-ID.
"""

from __future__ import annotations

import fnmatch
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any
from urllib.parse import unquote, urlsplit

from imap_tools import BaseMailBox, FolderInfo, MailBox, MailBoxStartTls, MailMessage
from imap_tools.errors import ImapToolsError, MailboxFolderSelectError

from pipelines.readers import UnreadableFile
from pipelines.readers.mail import date_of, field, head_lines, mail_of, metadata_of
from pipelines.sources.base import Entry, EntryGone, Known, SourceError
from pipelines.sources.mail_sign_in import sign_in
from pipelines.sources.notes import noted, remembered
from pipelines.sources.peers import check_peer
from pipelines.sources.spool import Spool
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


class _Bounded(MailMessage):
    """A message that no field of takes long, as strangers send them."""

    def __init__(self, fetch_data: list[Any]) -> None:
        data, self._raw_uid_data, self._raw_flag_data = self._get_message_data_parts(fetch_data)
        self.obj = mail_of(data)


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


_SECONDS = 60.0
_PORTS = {"imaps": 993, "imap": 143}
_LEFT_OUT = frozenset(
    ("\\junk", "\\trash", "\\drafts", "\\all", "\\flagged", "\\noselect", "\\nonexistent")
)
"""Folders that are not taken unless they are named: spam, bins, and views of others."""


def open_source(address: str, options: Mapping[str, Any], secrets: dict[str, str]) -> MailboxSource:
    """The mailbox of the user at ``address``, signed in; by ``imap://``, TLS is begun by STARTTLS.

    Raises:
        SourceError: the address is none, the server is away, or does not let the user in.
    """
    parts = urlsplit(address)
    if parts.scheme not in _PORTS or not parts.hostname or not parts.username:
        raise SourceError(f"{address} is no mailbox: give imaps://user@mail.example.com")
    host, port = parts.hostname, parts.port or _PORTS[parts.scheme]
    user, allowed = unquote(parts.username), options.get("allow_hosts")
    kind = MailBox if parts.scheme == "imaps" else MailBoxStartTls
    try:
        mailbox = kind(host, port, _SECONDS, ssl_context=ssl.create_default_context())
    except OSError as error:
        raise SourceError(f"the mail server {host} cannot be reached: {error}") from None
    mailbox.email_message_class = _Bounded
    try:
        check_peer(mailbox.client.sock.getpeername()[0], host, allowed)
        sign_in(mailbox, user, secrets, allowed)
    except Exception as error:
        mailbox.client.shutdown()
        if isinstance(error, (ImapToolsError, mailbox.client.error)):
            raise SourceError(f"the mail server {host} does not let {user} in: {error}") from None
        raise
    return MailboxSource(mailbox, str(options.get("folders") or ""))


class MailboxSource:
    """The messages of a mailbox and their files; keys are ``folder/UIDVALIDITY.UID.part``."""

    def __init__(self, mailbox: BaseMailBox, folders: str = "") -> None:
        self._mailbox = mailbox
        self._wanted = [name.strip() for name in folders.split(",") if name.strip()]
        self._spool = Spool()
        self._known: dict[str, list[tuple[Entry, str]]] = {}  # by message; with their Message-IDs
        self._names: dict[str, str] = {}
        self._selected = ("", "")
        self._had: set[tuple[str, str]] = set()  # (Message-ID, part) that are documents, or read

    def recall(self, known: Mapping[str, Known]) -> None:
        """Take messages that were had before: they are not fetched again."""
        for key, before in known.items():
            if found := remembered(before):
                entry, notes = found
                self._known.setdefault(_message_of(key), []).append((entry, notes["id"]))

    def entries(self) -> Iterator[Entry]:
        """The messages of each folder.

        Raises:
            SourceError: a folder may not be opened, or the server went away.
        """
        failed: list[str] = []
        self._names = {
            _key_of(folder): folder.name
            for folder in self._mailbox.folder.list()
            if self._takes(folder)
        }
        for folder in self._names:
            try:
                validity = self._select(folder)
            except SourceError as error:
                failed.append(str(error))
                continue
            for uid in self._mailbox.uids("UNDELETED"):
                yield from self._message(folder, validity, uid)
        if failed:
            raise SourceError("; ".join(failed))

    def _takes(self, folder: FolderInfo) -> bool:
        flags = {flag.lower() for flag in folder.flags}
        if not self._wanted:
            return not flags & _LEFT_OUT
        name = _key_of(folder).lower()
        return "\\noselect" not in flags and any(
            fnmatch.fnmatchcase(name, glob.lower()) for glob in self._wanted
        )

    def _select(self, folder: str) -> str:
        """Open a folder for reading; returns its UIDVALIDITY."""
        name = self._names.get(folder, folder)
        if self._selected[0] != folder:
            self._selected = ("", "")
            try:
                self._mailbox.folder.set(name, readonly=True)
            except MailboxFolderSelectError as error:
                raise SourceError(f"the folder {name} cannot be opened: {error}") from None
            _, (validity,) = self._mailbox.client.response("UIDVALIDITY")
            self._selected = (folder, validity.decode())
        return self._selected[1]

    def _message(self, folder: str, validity: str, uid: str) -> Iterator[Entry]:
        message = f"{folder}/{validity}.{uid}"
        for entry, message_id in self._known.get(message, ()):
            self._had.add((message_id, _part_of(entry.key)))
            yield entry
        if message in self._known:
            return
        try:
            parts = self._fetched(uid)
        except (UnreadableFile, RecursionError):  # told where it is read
            yield Entry(f"{message}.0", name=f"{uid}.txt")
            return
        for part in parts:
            yield self._entry(message, part)

    def _fetched(self, uid: str) -> list[Part]:
        for message in self._mailbox.fetch(uid_list=uid, mark_seen=False):
            return parts_of(message)
        return []  # it went meanwhile

    def _entry(self, message: str, part: Part) -> Entry:
        key = f"{message}.{part.number}"
        self._spool.put(key, part.data)
        entry = Entry(
            key,
            size=len(part.data),
            modified=part.date,
            name=part.name,
            metadata=part.metadata,
        )
        return noted(entry, id=part.message_id)

    def read(self, entry: Entry) -> bytes:
        """The text of a message with its head, or an attached file."""
        data = self._spool.get(entry.key)
        message, number = _message_of(entry.key), _part_of(entry.key)
        if data is None:
            data = next((part.data for part in self._parts(message) if part.number == number), None)
        if data is None:
            raise EntryGone("it went while it was read")
        if found := remembered(entry):
            self._had.add((found[1]["id"], number))
        return data

    def _parts(self, message: str) -> Sequence[Part]:
        folder, validity, uid = _place(message)
        return self._fetched(uid) if self._select(folder) == validity else ()

    def is_there(self, key: str) -> bool:
        """False where the server has no such message in its folder.

        Where it numbers the folder anew: no message of this Message-ID, or its new entry was read.
        """
        folder, validity, uid = _place(_message_of(key))
        try:
            now = self._select(folder)
        except SourceError:
            if folder in {_key_of(each) for each in self._mailbox.folder.list()}:
                raise
            return False
        if now == validity:
            return bool(self._mailbox.uids(f"UNDELETED UID {uid}"))
        known = self._known.get(_message_of(key), ())
        message_id = next((found for entry, found in known if entry.key == key), "")
        if not message_id or (message_id, _part_of(key)) in self._had:
            return False
        return bool(self._mailbox.uids(f'UNDELETED HEADER Message-ID "{_quoted(message_id)}"'))

    def close(self) -> None:
        """Sign out; what was spooled goes."""
        self._spool.close()
        with suppress(ImapToolsError, OSError, self._mailbox.client.error):
            self._mailbox.logout()


def _key_of(folder: FolderInfo) -> str:
    """The name of a folder with slashes between its levels."""
    delimited = folder.delim and folder.delim != "NIL"
    return folder.name.replace(folder.delim, "/") if delimited else folder.name


def _message_of(key: str) -> str:
    return key.rpartition(".")[0]


def _part_of(key: str) -> str:
    return key.rpartition(".")[2]


def _place(message: str) -> tuple[str, str, str]:
    """(folder, UIDVALIDITY, UID) of a message."""
    folder, _, number = message.rpartition("/")
    validity, _, uid = number.partition(".")
    return folder, validity, uid


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
