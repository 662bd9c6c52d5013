"""Google Drive's API v3 on loopback, for Google's own client: files, downloads and permissions.

The client asks https://www.googleapis.com and nothing else, so that the server is its proxy
(``https_proxy``) as well: it answers CONNECT by speaking TLS itself, as that host.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt

from tests.support.certificates import write_certificate
from tests.support.scripted_server import loopback, send_json

HOST = "www.googleapis.com"
FOLDER = "application/vnd.google-apps.folder"
_TOKEN = "token-of-the-service-account"
_AUDIENCE = "https://oauth2.googleapis.com/token"
_ACCOUNT = "helix@project.iam.gserviceaccount.com"
Permission = dict[str, Any]


@dataclass
class DriveFile:
    """A file, or a folder where its data are None; of a shared drive where ``drive`` names one."""

    name: str
    data: bytes | None
    parent: str = "root"
    drive: str = ""
    permissions: list[Permission] = field(default_factory=list)
    modified: str = "2026-03-02T10:00:00.000Z"
    trashed: bool = False

    def told(self, key: str) -> dict[str, Any]:
        """The file as ``fields=*`` has it, of an account that may not share it."""
        own = {"driveId": self.drive} if self.drive else {"owners": [{"displayName": "Anna"}]}
        return {
            "id": key, "name": self.name, "mimeType": FOLDER if self.data is None else "text/plain",
            "parents": [self.parent], "createdTime": self.modified, "modifiedTime": self.modified,
            "trashed": self.trashed, **own,
        }  # fmt: skip


@dataclass
class Drive:
    """``files`` by id; lists show ``shown`` at most at once.

    Paths below /drive/v3/ that ``refused`` names, with the token of a later page, are answered by
    (status, reason), so many times.
    """

    url: str = ""
    files: dict[str, DriveFile] = field(default_factory=dict)
    shown: int = 2
    refused: dict[str, tuple[int, str, int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def account(self) -> dict[str, str]:
        """The key of the service account, as Google hands it out."""
        pem = _key().private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return {
            "type": "service_account", "client_email": _ACCOUNT, "private_key": pem.decode(),
            "private_key_id": "1", "token_uri": f"{self.url}/token",
        }  # fmt: skip

    def token(self, form: Mapping[str, str]) -> dict[str, Any]:
        """A token, for what the account's key has signed."""
        public = _key().public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )  # fmt: skip
        signed: Any = jwt.decode(  # type: ignore[no-untyped-call]
            form["assertion"], public, audience=_AUDIENCE
        )
        assert (signed["iss"], signed["scope"]) == (
            _ACCOUNT, "https://www.googleapis.com/auth/drive.readonly"
        )  # fmt: skip
        return {"access_token": _TOKEN, "expires_in": 3600, "token_type": "Bearer"}

    def answer(self, path: str, query: Mapping[str, str]) -> tuple[int, Any]:
        """The status of an answer and its body, bytes of a file or what becomes JSON."""
        path = unquote(path.removeprefix("/drive/v3/"))
        asked = f"{path} {query.get('pageToken', '')}".strip()
        status, reason, times = self.refused.get(asked, (0, "", 0))
        if times:
            self.refused[asked] = (status, reason, times - 1)
            return _error(status, reason)
        parts = path.split("/")[1:]
        if not parts:
            return 200, self._listed(query)
        file = self.files.get(parts[0])
        if file is None:
            return _error(404, "notFound")
        if query.get("alt") == "media":
            return 200, file.data
        if file.drive and query.get("supportsAllDrives") != "true":
            return _error(404, "notFound")
        if parts[1:] == ["permissions"]:
            return 200, self._permissions(file, query)
        return 200, file.told(parts[0])

    def _listed(self, query: Mapping[str, str]) -> dict[str, Any]:
        folder = re.search(r"'([^']+)' in parents", query["q"])
        assert folder is not None and query["fields"] == "*", query
        all_drives = query.get("includeItemsFromAllDrives") == query.get("supportsAllDrives")
        found = [
            file.told(key)
            for key, file in self.files.items()
            if file.parent == folder[1]
            and (not file.drive or (all_drives and query.get("driveId", file.drive) == file.drive))
            and not ("trashed = false" in query["q"] and file.trashed)
        ]
        return self._page("files", found, query, self.shown)

    def _permissions(self, file: DriveFile, query: Mapping[str, str]) -> dict[str, Any]:
        wanted = re.fullmatch(r"nextPageToken,permissions\((.+)\)", query["fields"])
        assert wanted is not None
        told = [
            {name: value for name, value in each.items() if name in wanted[1].split(",")}
            for each in file.permissions
        ]
        most = min(self.shown, int(query["pageSize"]))
        return self._page("permissions", told, query, most)

    def _page(
        self, name: str, found: list[Any], query: Mapping[str, str], most: int
    ) -> dict[str, Any]:
        start = int(query.get("pageToken") or 0)
        end = start + most
        more = {"nextPageToken": str(end)} if end < len(found) else {}
        return {name: found[start:end], **more}


@cache
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def _error(status: int, reason: str) -> tuple[int, Any]:
    """An error, as developers.google.com/workspace/drive/api/guides/handle-errors has it."""
    told = {"domain": "global", "reason": reason, "message": f"It is {reason}."}
    return status, {"error": {"errors": [told], "code": status, "message": told["message"]}}


@contextmanager
def drive(folder: Path) -> Iterator[Drive]:
    """The server, and the proxy that leads to it; the certificate to trust is in ``folder``."""
    held = Drive()
    write_certificate(folder / "drive.pem", folder / "drive.key", HOST)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "drive.pem", folder / "drive.key")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            assert self.path == f"{HOST}:443", self.path
            self.send_response(200)
            self.end_headers()
            self.connection = tls.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb")

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            send_json(self, 200, held.token({name: values[0] for name, values in form.items()}))

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            held.asked.append(self.path)
            if self.headers.get("Authorization") != f"Bearer {_TOKEN}":
                return self._send(*_error(401, "authError"))
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            return self._send(*held.answer(parts.path, query))

        def _send(self, status: int, body: Any) -> None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with loopback(Handler) as held.url:
        yield held
