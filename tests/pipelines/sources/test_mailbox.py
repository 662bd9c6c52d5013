"""A mailbox with mails made to harm; tests/servers/test_imap.py has it against Dovecot."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from imap_tools import FolderInfo

from pipelines.readers import UnreadableFile
from pipelines.sources.mailbox import MailboxSource, _Bounded
from tests.support.mails import mail

DEEP = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(2_000))
LONG = mail("First.", Content_Type=f'text/plain; x="{";" * 300_000}"')
MAILS = {"1": LONG, "2": f"Subject: Deep\n{DEEP}".encode(), "3": mail("Third.", Subject="Three")}


class _Server:
    """A server with the mails in one folder, as imap_tools has it."""

    folder = SimpleNamespace(
        list=lambda: [FolderInfo("INBOX", "/", ())], set=lambda name, readonly: None
    )
    client = SimpleNamespace(response=lambda name: (name, [b"7"]))

    def uids(self, criteria: str) -> list[str]:
        return list(MAILS)

    def fetch(self, uid_list: str, mark_seen: bool) -> Iterator[_Bounded]:
        yield _Bounded.from_bytes(MAILS[uid_list])


def test_a_mail_that_cannot_be_read_costs_no_other() -> None:
    source = MailboxSource(cast(Any, _Server()))
    entries = {entry.key: entry for entry in source.entries()}
    assert list(entries) == ["INBOX/7.1.0", "INBOX/7.2.0", "INBOX/7.3.0"]
    assert b"First." in source.read(entries["INBOX/7.1.0"])
    assert b"Third." in source.read(entries["INBOX/7.3.0"])
    with pytest.raises(UnreadableFile, match="nested too deep"):
        source.read(entries["INBOX/7.2.0"])
