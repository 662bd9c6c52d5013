"""Signing in at a mail server: by password, or by a token of OAuth (XOAUTH2, or OAUTHBEARER)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
from imap_tools import BaseMailBox

from pipelines.sources.base import SourceBusy, SourceError
from pipelines.sources.peers import checked_transport

_SECONDS = 30.0
_USUAL = 3600
_EARLY = 60
"""Seconds before its end from which a token is used no more."""
_NEEDED = ("token_url", "client_id", "refresh_token")
_HERE = ("localhost", "127.0.0.1", "::1")
_BUSY = (429, 503)
_REASONS = {
    "invalid_grant": "the refresh token is not accepted any more, it was revoked or is too old:"
    " sign in there again, and give the source the new one",
    "invalid_client": "it does not accept client_id and client_secret",
    "unauthorized_client": "it does not accept client_id and client_secret",
}


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


class MailTokens:
    """Tokens for one mailbox. What is to be kept of them is put into its ``secrets``."""

    def __init__(self, secrets: dict[str, str], allow_hosts: Collection[str] | None) -> None:
        """Take the client's credentials.

        Raises:
            SourceError: one is missing, or the address would have them sent in the open.
        """
        if missing := [name for name in _NEEDED if not secrets.get(name, "").strip()]:
            raise SourceError(f"a mailbox by OAuth wants the secrets {', '.join(missing)} too")
        self._secrets = secrets
        self._allow_hosts = allow_hosts
        parts = urlsplit(self._given("token_url"))
        self._host = parts.hostname or ""
        if parts.scheme != "https" and not (parts.scheme == "http" and self._host in _HERE):
            raise SourceError("token_url is no https:// address")

    @staticmethod
    def are_in(secrets: Mapping[str, str]) -> bool:
        """True where a mailbox is opened by tokens."""
        return any(secrets.get(name) for name in _NEEDED)

    def _given(self, name: str) -> str:
        return self._secrets.get(name, "").strip()

    def kept(self) -> str | None:
        """The token that was had before, unless it is at its end."""
        ends = float(self._secrets.get("access_token_ends") or 0)
        return self._secrets.get("access_token") if time.time() < ends - _EARLY else None

    def renewed(self) -> str:
        """Another token.

        Raises:
            SourceError: the token address cannot be reached, or gives none; its words are plain.
        """
        told = self._asked()
        token = str(told["access_token"])
        ends = time.time() + float(told.get("expires_in") or _USUAL)
        self._secrets |= {"access_token": token, "access_token_ends": str(int(ends))}
        if told.get("refresh_token"):
            self._secrets["refresh_token"] = str(told["refresh_token"])
        return token

    def _asked(self) -> dict[str, Any]:
        form = {"grant_type": "refresh_token"}
        form |= {name: self._given(name) for name in ("client_id", "refresh_token")}
        if secret := self._given("client_secret"):
            form["client_secret"] = secret
        transport = checked_transport(self._allow_hosts)
        try:
            with httpx.Client(transport=transport, timeout=_SECONDS) as client:
                answer = client.post(self._given("token_url"), data=form)
        except httpx.HTTPError as error:
            raise SourceError(
                f"the token address at {self._host} cannot be reached: {error}"
            ) from None
        return self._told(answer)

    def _told(self, answer: httpx.Response) -> dict[str, Any]:
        if answer.status_code in _BUSY:
            raise SourceBusy(f"the token address at {self._host} is busy: try again later")
        try:
            told = answer.json()
        except ValueError:
            told = None
        if not isinstance(told, dict):
            told = {}
        if answer.is_success and told.get("access_token"):
            return told
        error = str(told.get("error") or f"it answered {answer.status_code}, and with no token")
        more = str(told.get("error_description") or "")
        reason = _REASONS.get(error) or f"{error}: {more}".removesuffix(": ")
        raise SourceError(f"the token address at {self._host} refuses: {reason}")
