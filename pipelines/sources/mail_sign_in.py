"""Signing in at a mail server: by password, or by a token of OAuth (XOAUTH2, or OAUTHBEARER)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from imap_tools import BaseMailBox

from pipelines.sources.mail_tokens import MailTokens


def sign_in(
    mailbox: BaseMailBox,
    user: str,
    secrets: dict[str, str],
    allow_hosts: Collection[str] | None,
) -> None:
    """Sign ``user`` in; a token that is refused before its time is renewed once.

    Raises:
        ImapToolsError, imaplib.IMAP4.error: the server does not let them in.
        SourceError: there is no token.
    """
    if not MailTokens.are_in(secrets):
        mailbox.login(user, secrets.get("password", ""), initial_folder=None)
        return
    tokens = MailTokens(secrets, allow_hosts)
    kept = tokens.kept()
    if not (kept and _is_let_in(mailbox, user, kept)):
        _by_token(mailbox, user, tokens.renewed())


def _is_let_in(mailbox: BaseMailBox, user: str, token: str) -> bool:
    """False where the server refuses the token; a connection that breaks off is raised."""
    try:
        _by_token(mailbox, user, token)
    except mailbox.client.abort:  # which is an ``error`` too
        raise
    except mailbox.client.error:
        return False
    return True


def _by_token(mailbox: BaseMailBox, user: str, token: str) -> None:
    client = mailbox.client
    if "AUTH=OAUTHBEARER" in client.capabilities:  # RFC 7628
        name = user.replace("=", "=3D").replace(",", "=2C")
        first, after_error = f"n,a={name},\1auth=Bearer {token}\1\1", b"\1"
        client.authenticate("OAUTHBEARER", _answers(first.encode(), after_error))
    else:  # https://developers.google.com/workspace/gmail/imap/xoauth2-protocol
        first, after_error = f"user={user}\1auth=Bearer {token}\1\1", b""
        client.authenticate("XOAUTH2", _answers(first.encode(), after_error))


def _answers(first: bytes, after_error: bytes) -> Callable[[bytes], bytes]:
    """The answers to a server: the token, and then one to the error that it tells before its no."""
    answers = iter((first, after_error))
    return lambda _: next(answers, b"")
