"""A provider of OAuth on loopback: tokens for refresh tokens, and what mail servers ask of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs

from tests.support.scripted_server import loopback, send_json

CLIENT, SECRET = "helix-client", "secret-of-the-client"


@dataclass
class TokenServer:
    """``refresh`` are the refresh tokens that are good, ``active`` the tokens by their user.

    ``rotates``: a refresh token is good for one use. With ``status`` the token address answers it.
    """

    url: str = ""
    refresh: dict[str, str] = field(default_factory=lambda: {"refresh-0": "anna"})
    active: dict[str, str] = field(default_factory=dict)
    expires_in: int = 3600
    rotates: bool = False
    status: int = 0
    given: int = 0
    forms: list[dict[str, str]] = field(default_factory=list)

    def secrets(self, **more: str) -> dict[str, str]:
        """The credentials of a mailbox."""
        return {
            "token_url": f"{self.url}/token", "client_id": CLIENT, "client_secret": SECRET,
            "refresh_token": "refresh-0", **more,
        }  # fmt: skip

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The answer to a client that wants a token."""
        self.forms.append(form)
        if self.status:
            return self.status, {}
        if (form["client_id"], form.get("client_secret")) != (CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        user = self.refresh.get(form["refresh_token"])
        if user is None or form["grant_type"] != "refresh_token":
            return 400, {"error": "invalid_grant", "error_description": "Token has been revoked."}
        self.given += 1
        token = f"access-{self.given}"
        self.active[token] = user
        told = {"access_token": token, "token_type": "Bearer", "expires_in": self.expires_in}
        if self.rotates:
            del self.refresh[form["refresh_token"]]
            self.refresh[f"refresh-{self.given}"] = user
            told["refresh_token"] = f"refresh-{self.given}"
        return 200, told

    def introspect(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The answer to a mail server that was shown a token (RFC 7662)."""
        user = self.active.get(form["token"])
        return 200, {"active": False} if user is None else {"active": True, "username": user}


@contextmanager
def token_server() -> Iterator[TokenServer]:
    """The provider, ready."""
    held = TokenServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            answer = {"/token": held.token, "/introspect": held.introspect}[self.path]
            status, told = answer(form)
            send_json(self, status, told)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with loopback(Handler) as held.url:
        yield held
