"""A Hugging Face hub on loopback: one repository, whose files break off where a test says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.support.scripted_server import loopback

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "somebody/some-model-GGUF"


@dataclass
class ModelHub:
    """Its address, its files by name, and what it was asked: method, path and Range.

    ``longest``: bytes of a response after which its connection breaks. ``down``: it answers
    downloads with 503. ``lies``: it sends other bytes than it lists.
    """

    url: str
    files: Mapping[str, bytes]
    licence: str | None = "apache-2.0"
    longest: int | None = None
    down: bool = False
    lies: bool = False
    gated: bool = False
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def listing(self) -> bytes:
        """The repository's entry, as the hub's API gives it."""
        files = [
            {
                "rfilename": name, "size": len(content), "blobId": "0" * 40,
                "lfs": {"sha256": sha256(content), "size": len(content), "pointerSize": 134},
            } for name, content in self.files.items()
        ]  # fmt: skip
        card = {"license": self.licence} if self.licence else {}
        told = {"id": REPOSITORY, "sha": COMMIT, "siblings": files, "cardData": card}
        return json.dumps(told).encode()

    def ranges(self) -> list[str]:
        """The Range of each download, empty where it began at the start."""
        return [part for method, path, part in self.asked if method == "GET" and "resolve" in path]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: ModelHub

    def do_GET(self) -> None:
        hub = self.hub
        hub.asked.append((self.command, self.path, self.headers.get("Range", "")))
        name = self.path.partition(f"/resolve/{COMMIT}/")[2].partition("?")[0]
        if self.path.startswith(f"/api/models/{REPOSITORY}"):
            self._send(200, hub.listing())
        elif self.path.startswith("/api/models/"):  # the hub does not say what is private
            self._send(401, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif hub.gated:
            self._send(403, b"{}", {"X-Error-Code": "GatedRepo"})
        elif hub.down:
            self._send(503, b"{}")
        elif name in hub.files:
            self._send_file(hub.files[name])
        else:
            self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"})

    do_HEAD = do_GET  # noqa: N815  the base class's own names

    def _send_file(self, content: bytes) -> None:
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{sha256(content)}"'}
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = bytes(len(content)) if self.hub.lies else content
        self._send(206 if start else 200, body[start:], headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: self.hub.longest])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def model_hub(files: Mapping[str, bytes]) -> Iterator[ModelHub]:
    """The hub, serving ``files`` while the block lasts."""
    hub = ModelHub("", files)
    handler = type("Handler", (_Handler,), {"hub": hub})
    with loopback(handler) as hub.url:
        yield hub
