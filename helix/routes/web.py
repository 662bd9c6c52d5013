"""GET / and /web/…: the page and its files, from memory, under strict headers.

A file is served only if it was there when the first was asked for: no path is put together from
what a request says.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from helix.routes.page_headers import PAGE_HEADERS

FOLDER = Path(__file__).resolve().parent.parent / "web"
_MIMES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}
_PACKED = frozenset({".woff2"})
"""What is compressed already."""
# Every load asks again whether a file is still the same, so that no page runs half of an old
# version and half of a new one; the answer is 304 without a body.
_CACHING = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}


@dataclass(frozen=True)
class Asset:
    """One file as it is served; ``small`` is its gzip, None where that gains nothing."""

    mime: str
    data: bytes
    small: bytes | None
    etag: str


@cache
def assets() -> dict[str, Asset]:
    """Every file of the page by its path below /web/, about 0.6 MB."""
    return {
        path.relative_to(FOLDER).as_posix(): _asset(path)
        for path in sorted(FOLDER.rglob("*"))
        if path.is_file() and path.suffix in _MIMES
    }


def _asset(path: Path) -> Asset:
    data = path.read_bytes()
    # no time in it: the same bytes give the same gzip
    small = None if path.suffix in _PACKED else gzip.compress(data, 9, mtime=0)
    return Asset(_MIMES[path.suffix], data, small, hashlib.sha256(data).hexdigest()[:32])


router = APIRouter(include_in_schema=False)


@router.get("/")
def page(request: Request) -> Response:
    """The page itself. It holds no data: that is asked for by the API, with the user's key."""
    return _served(request, "index.html")


@router.get("/web/{path:path}")
def file(request: Request, path: str) -> Response:
    """A module, style sheet, font or picture of the page."""
    return _served(request, path)


def _served(request: Request, path: str) -> Response:
    asset = assets().get(path)
    if asset is None:
        raise HTTPException(404, "there is no such file of the page")
    packed = asset.small is not None and _takes_gzip(request)
    etag = f'"{asset.etag}{"-gz" if packed else ""}"'
    headers = {**PAGE_HEADERS, **_CACHING, "ETag": etag}
    if _same(request, asset.etag):
        return Response(status_code=304, headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    body = asset.small if packed else asset.data
    return Response(body, headers=headers, media_type=asset.mime)


def _takes_gzip(request: Request) -> bool:
    sent = request.headers.get("accept-encoding", "")
    for part in sent.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "").rstrip("0.") != "q="
    return False


def _same(request: Request, etag: str) -> bool:
    """Whether the client has the file already, packed or not: RFC 9110, section 13.1.2."""
    sent = request.headers.get("if-none-match", "")
    known = {tag.strip().removeprefix("W/").strip('"') for tag in sent.split(",")}
    return bool({etag, f"{etag}-gz", "*"} & known)
