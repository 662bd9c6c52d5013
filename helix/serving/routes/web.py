"""GET /, /docs, /openapi.json and /web/…: the page, the API's description, under strict headers."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from helix.serving.authentication import ApiRoute, authenticate
from helix.serving.entity_tags import has_same
from helix.serving.key_scopes import NEEDED, public_part
from helix.settings import Settings

_VALIDATION = {"HTTPValidationError", "ValidationError"}
"""FastAPI's schemas of a 422 that error_handlers.py never sends."""
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string", "description": "One line that says what is wrong"}},
}
_KEY = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key, `hx_…`, made with `helix keys create`",
}
_BAD_REQUEST = {
    "description": "The request is malformed",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


def openapi_document(application: FastAPI, settings: Settings) -> dict[str, Any]:
    """The document of ``application``, made once; a key is in it where ``settings`` ask for one."""
    if application.openapi_schema:
        return application.openapi_schema
    document = application.openapi()
    components = document.setdefault("components", {})
    schemas = {
        name: schema
        for name, schema in components.get("schemas", {}).items()
        if name not in _VALIDATION
    }
    components["schemas"] = {**schemas, "Error": _ERROR}
    for path in document["paths"].values():
        for operation in path.values():
            _correct_errors(operation["responses"])
    if settings.auth != "off":
        components["securitySchemes"] = {"key": _KEY}
        for operation in _keyed(application, settings, document):
            operation["security"] = [{"key": []}]
    return document


def _correct_errors(responses: dict[str, Any]) -> None:
    """Put the 400 that a malformed request gets in the place of FastAPI's own 422."""
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]
        responses["400"] = _BAD_REQUEST | responses.get("400", {})


def _keyed(
    application: FastAPI, settings: Settings, document: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The operations that nobody has without a key."""
    for route in application.routes:
        if not isinstance(route, ApiRoute) or not route.include_in_schema:
            continue
        if public_part(route.path) not in settings.public:
            for method in route.methods or ():
                yield document["paths"][route.path_format][method.lower()]


FOLDER = Path(__file__).resolve().parents[2] / "web"
_MEDIA_TYPES = {
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
"""The kinds of file that are served. The system's own table lacks or mistakes some of them."""
_POLICY = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' blob:",  # blob: a picture that the user chose, shown before it is sent
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",  # text becomes markup in the sanitizer only
    "trusted-types dompurify",
]
_HEADERS = {
    "Content-Security-Policy": "; ".join(_POLICY),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
    # Every load asks again whether a file is still the same, so that no page runs half of an old
    # version and half of a new one; the answer is 304 without a body.
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}

API_DOCS = "/docs"
OPENAPI = "/openapi.json"
_PAGES = {"/": "index.html", API_DOCS: "api-docs/index.html"}
_API_DOCS_POLICY = "; ".join(_POLICY).replace("blob:", "data:")
"""The page's own but for pictures: those of Swagger UI stand in its style sheet."""

_files = StaticFiles(directory=FOLDER)


@dataclass(frozen=True)
class _Content:
    """A file's bytes, the same by gzip where that is shorter, and their hash, quoted."""

    body: bytes
    packed: bytes | None
    tag: str


@lru_cache(maxsize=1024)
def _content(file: str, _changed_ns: int) -> _Content:
    """Read and packed once a version: a page is some hundred files, and each load asks for all."""
    body = Path(file).read_bytes()
    packed = gzip.compress(body, mtime=0)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return _Content(body, packed if len(packed) < len(body) else None, tag)


def _found(path: str) -> _Content | None:
    try:
        file, status = _files.lookup_path(path)
    except (OSError, ValueError):  # a name that is too long, or has a NUL
        return None
    return _content(file, status.st_mtime_ns) if status else None


async def page_file(request: Request) -> Response:
    """The page itself, or a module, style sheet, font or picture of it.

    The page holds no data: it asks the API for that, with the user's key.
    """
    path = request.path_params.get("path", _PAGES.get(request.url.path, ""))
    media_type = _MEDIA_TYPES.get(Path(path).suffix)
    content = _found(path) if media_type else None
    if media_type is None or content is None:
        raise HTTPException(404, "there is no such file of the page")
    # a weak tag, for it names the file both compressed and not
    headers = {**_HEADERS, "Content-Type": media_type, "ETag": f"W/{content.tag}"}
    if path == _PAGES[API_DOCS]:
        headers["Content-Security-Policy"] = _API_DOCS_POLICY
    if has_same(request.headers.get("If-None-Match"), content.tag):
        return Response(status_code=304, headers=headers)
    if content.packed and "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(content.packed, headers=headers | {"Content-Encoding": "gzip"})
    return Response(content.body, headers=headers)


async def openapi(request: Request, settings: Settings) -> Response:
    """The API's description."""
    return JSONResponse(openapi_document(request.app, settings))


async def closed_openapi(request: Request, settings: Settings) -> Response:
    """The API's description, for a key alone."""
    await authenticate(request, NEEDED["GET", OPENAPI])
    return await openapi(request, settings)


async def closed_api_docs(request: Request) -> Response:
    """The page of the API's description, which it fetches with the browser's key.

    A browser shows no key when it follows a link. So a stranger gets the page too, with the status
    of a refusal: it holds nothing but the drawing of what ``closed_openapi`` gives to a key alone.
    """
    try:
        await authenticate(request, NEEDED["GET", API_DOCS])
    except HTTPException as refused:
        asked = request.scope["headers"]  # a refusal is never "not modified"
        plain = [each for each in asked if not each[0].startswith(b"if-")]
        page = await page_file(Request({**request.scope, "headers": plain}))
        page.status_code = refused.status_code
        page.headers.update({**(refused.headers or {}), "Cache-Control": "no-store"})
        return page
    return await page_file(request)


async def redoc(_: Request) -> Response:
    """Redirect FastAPI's second view of the description to the one there is."""
    return RedirectResponse(API_DOCS)


def routes(settings: Settings) -> list[Route]:
    """The page's routes; those of the API's description are closed to strangers by ``settings``.

    They go into the application as they are: a FastAPI router would lose their middleware.
    """
    closed = settings.auth != "off" and "docs" not in settings.public
    served = {
        "/": page_file,
        "/web/{path:path}": page_file,
        API_DOCS: closed_api_docs if closed else page_file,
        "/redoc": redoc,
    }
    description = partial(closed_openapi if closed else openapi, settings=settings)
    packed = [Middleware(GZipMiddleware)]
    return [
        *(Route(path, page, include_in_schema=False) for path, page in served.items()),
        Route(OPENAPI, description, middleware=packed, include_in_schema=False),
    ]
