"""A mailbox of Dovecot as a source: what comes, moves and goes, and what only looks gone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from imap_tools import MailBox

from pipelines.sources.base import Connector, Entry, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.known_entries import synced, unchanged
from tests.support.mail_server import PASSWORD, MailServer, mail_server

pytestmark = pytest.mark.servers

PDF = b"%PDF-1.4\n%%EOF\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    with mail_server() as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(running.folder / "server.pem"))
        yield running


def mail(subject: str, text: str = "Hello.", *, id: str = "", **more: Any) -> bytes:  # noqa: A002
    message = EmailMessage()
    message["Subject"] = subject
    message["From"] = "Ada <ada@example.com>"
    message["To"] = "anna@example.com, bob@example.com"
    message["Date"] = "Mon, 02 Mar 2026 10:00:00 +0100"
    if id:
        message["Message-ID"] = f"<{id}>"
    for name, value in more.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message.as_bytes()


def with_file(data: bytes, name: str, content: bytes) -> bytes:
    message = message_from_bytes(data, policy=policy.default)
    message.add_attachment(content, maintype="application", subtype="pdf", filename=name)
    return message.as_bytes()


@contextmanager
def opened(server: MailServer, password: str = PASSWORD, **options: Any) -> Iterator[Connector]:
    source = open_source("imap", server.address, options, {"password": password})
    try:
        yield source
    finally:
        source.close()


def listing(server: MailServer, before: Iterable[Entry] = (), **options: Any) -> list[Entry]:
    with opened(server, **options) as source:
        return list(synced(source, before).values())


def texts(server: MailServer, before: Iterable[Entry] = ()) -> dict[str, bytes]:
    with opened(server) as source:
        return {e.key: source.read(e) for e in synced(source, before).values()}


def put(client: MailBox, *messages: bytes, folder: str = "INBOX") -> None:
    for message in messages:
        client.append(message, folder)


def test_a_message_is_a_document_with_its_head_and_its_thread(server: MailServer) -> None:
    answer = mail(
        "Re: Budget / May", "Yes.", id="2@x", References="<0@x> <1@x>", In_Reply_To="<1@x>"
    )
    with server.client() as client:
        put(client, with_file(answer, "plan.pdf", PDF))
    with opened(server) as source:
        text, file = synced(source).values()
        assert text.name == "Re: Budget - May.txt" and file.name == "plan.pdf"
        assert text.key.startswith("INBOX/") and text.key.endswith(".1.0")
        assert (
            text.modified is not None and text.modified.isoformat() == "2026-03-02T10:00:00+01:00"
        )
        assert text.metadata == {
            "subject": "Re: Budget / May",
            "from": "ada@example.com",
            "to": ["anna@example.com", "bob@example.com"],
            "date": "2026-03-02T09:00:00Z",
            "message_id": "2@x",
            "in_reply_to": "1@x",
            "references": ["0@x", "1@x"],
            "thread": "0@x",
        }
        assert file.metadata == {**text.metadata, "attachment": "plan.pdf"}
        assert source.read(file) == PDF
        assert source.read(text).decode().splitlines() == [
            "Subject: Re: Budget / May", "From: Ada <ada@example.com>",
            "To: anna@example.com, bob@example.com", "Date: Mon, 02 Mar 2026 10:00:00 +0100",
            "Attachments: plan.pdf", "", "Yes.",
        ]  # fmt: skip


def test_a_message_of_html_alone_is_read_as_html(server: MailServer) -> None:
    message = EmailMessage()
    message["Subject"] = "News & more"
    message["From"] = "ada@example.com"
    message.set_content("<p>Big <b>news</b></p>", subtype="html")
    with server.client() as client:
        put(client, message.as_bytes())
    with opened(server) as source:
        (entry,) = synced(source).values()
        assert entry.name == "News & more.html" and entry.modified is None
        text = source.read(entry).decode()
    assert "<h1>News &amp; more</h1>" in text and "<b>news</b>" in text


def test_what_was_had_is_not_fetched_again_and_what_came_is(server: MailServer) -> None:
    with server.client() as client:
        put(client, mail("One", id="1@x"), with_file(mail("Two", id="2@x"), "a.pdf", PDF))
    before = listing(server)
    log = server.folder / "log"
    with server.client() as client:
        put(client, mail("Three", id="3@x"))
    size = len(log.read_text())
    again = {entry.key: entry for entry in listing(server, before)}
    assert [unchanged(again[entry.key], entry) for entry in before] == [True] * 3
    assert len(again) == 4
    # Dovecot's line at the end of a connection, soon after it: bodies of one message were sent
    until = time.monotonic() + 30
    while "body_count=1 " not in log.read_text()[size:] and time.monotonic() < until:
        time.sleep(0.05)
    assert "body_count=1 " in log.read_text()[size:]


def test_what_is_deleted_is_gone_and_the_rest_is_there(server: MailServer) -> None:
    with server.client() as client:
        put(client, mail("One", id="1@x"), mail("Two", id="2@x"), mail("Three", id="3@x"))
    before = listing(server)
    with server.client() as client:
        client.delete("1")
        client.flag("2", "\\Deleted", True)
        client.folder.set("INBOX")
        put(client, mail("Four", id="4@x"))
    with opened(server) as source:
        found = synced(source, before)
        assert [entry.name for entry in found.values()] == ["Three.txt", "Four.txt"]
        assert [source.is_there(entry.key) for entry in before] == [False, False, True]


def test_a_message_that_moved_has_the_same_bytes(server: MailServer) -> None:
    with server.client() as client:
        put(client, mail("One", id="1@x"), mail("Two", id="2@x"))
        client.folder.create("Archive.2026")
    before = texts(server)
    with server.client() as client:
        client.move("1", "Archive.2026")
    after = texts(server)
    assert sorted(before.values()) == sorted(after.values())
    (moved,) = after.keys() - before.keys()
    assert moved.startswith("Archive/2026/")
    (gone,) = before.keys() - after.keys()
    assert after[moved] == before[gone]


def test_a_folder_that_is_numbered_anew_loses_nothing(server: MailServer) -> None:
    kept = [mail("One", id="1@x"), mail("No id"), mail("Two", id="2@x")]
    with server.client() as client:
        client.folder.create("Team")
        put(client, *kept, mail("Deleted", id="4@x"), folder="Team")
    with opened(server) as source:
        before = synced(source)
        old = {source.read(entry): entry.key for entry in before.values()}
    with server.client() as client:
        client.folder.delete("Team")
        client.folder.create("Team")
        put(client, *reversed(kept), folder="Team")
    with opened(server) as source:
        found = synced(source, before.values())
        assert not found.keys() & before.keys() and len(found) == 3
        by_id = {entry.metadata.get("message_id", ""): key for key, entry in before.items()}
        # not read yet: what has a Message-ID is not gone
        assert source.is_there(by_id["1@x"]) and source.is_there(by_id["2@x"])
        assert not source.is_there(by_id["4@x"])
        new = {source.read(entry): entry.key for entry in found.values()}
        # a sync takes these for moved, by their bytes
        assert set(old) - set(new) == {data for data, key in old.items() if key == by_id["4@x"]}
        assert not source.is_there(by_id["1@x"])


def test_spam_and_the_bin_are_left_out_unless_they_are_named(server: MailServer) -> None:
    with server.client() as client:
        put(client, mail("Spam"), folder="Junk")
        client.folder.create("Kunden Größe")
        put(client, mail("Kunde"), folder="Kunden Größe")
        put(client, mail("Mine"))
    assert {entry.name for entry in listing(server)} == {"Mine.txt", "Kunde.txt"}
    assert {entry.name for entry in listing(server, folders="kunden*, junk")} == {
        "Spam.txt",
        "Kunde.txt",
    }


def test_a_folder_that_may_not_be_opened_any_more_is_not_gone(server: MailServer) -> None:
    with server.client() as client:
        client.folder.create("Team")
        put(client, mail("Two"), folder="Team")
        put(client, mail("One"))
    before = {entry.name: entry for entry in listing(server)}
    server.maildir("Team").chmod(0)
    listed: list[str] = []
    with opened(server) as source:
        with pytest.raises(SourceError, match="folder Team cannot be opened"):
            listed.extend(entry.name for entry in source.entries())
        with pytest.raises(SourceError, match="folder Team cannot be opened"):
            source.is_there(before["Two.txt"].key)
    with opened(server) as source:
        assert next(source.entries()).name == "One.txt"


def test_a_folder_that_was_deleted_is_gone(server: MailServer) -> None:
    with server.client() as client:
        client.folder.create("Team")
        put(client, mail("Two"), folder="Team")
    (before,) = listing(server)
    with server.client() as client:
        client.folder.delete("Team")
    with opened(server) as source:
        assert synced(source, [before]) == {}
        assert not source.is_there(before.key)


def test_a_server_that_goes_in_the_midst_ends_the_listing(server: MailServer) -> None:
    with server.client() as client:
        put(client, mail("One"), mail("Two"))
    source = open_source("imap", server.address, {}, {"password": PASSWORD})
    entries = source.entries()
    first = next(entries)
    server.stop()
    with pytest.raises(SourceError):
        next(entries)
    with pytest.raises(SourceError):
        source.is_there(first.key)
    source.close()
    with pytest.raises(SourceError, match="cannot be reached"):
        listing(server)


def test_a_wrong_password_is_told_without_it(server: MailServer) -> None:
    with (
        pytest.raises(SourceError, match="does not let anna in") as caught,
        opened(server, password="wrong-secret"),
    ):
        pass
    assert "wrong-secret" not in str(caught.value)


def test_a_server_that_nobody_vouches_for_is_not_told_the_password(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(SourceError, match="CERTIFICATE_VERIFY_FAILED"):
        listing(server)


def test_starttls_is_asked_for_where_the_address_says_imap(server: MailServer) -> None:
    address = f"imap://anna@localhost:{server.plain}"
    source = open_source("imap", address, {}, {"password": PASSWORD})
    assert list(source.entries()) == []
    source.close()


def test_a_server_of_the_network_is_refused_to_those_who_may_not(server: MailServer) -> None:
    with pytest.raises(SourceError, match="is loopback"):
        listing(server, allow_hosts=())
    assert listing(server, allow_hosts=("localhost",)) == []


@pytest.mark.parametrize("address", ["https://mail.example.com", "imaps://mail.example.com"])
def test_an_address_that_is_no_mailbox_is_told(address: str) -> None:
    with pytest.raises(SourceError, match=r"give imaps://user@"):
        open_source("imap", address, {}, {})
