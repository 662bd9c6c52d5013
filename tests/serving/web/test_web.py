"""The page's files: headers, caching, what is vendored, and that no other host is named."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from helix.serving.routes.web import FOLDER
from tests.serving.web.files import own_files
from tests.support.repository import ROOT

_STATIC = re.compile(r'^(?:import|export)\b[^;]*?from "(\.[^"]+)"', re.MULTILINE)
_IMPORT = re.compile(r'(?:from|import)\s*\(?"(\.[^"]+)"')


def test_the_page_and_its_headers(client: TestClient) -> None:
    response = client.get("/")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_file_is_asked_for_again_and_not_sent_again(client: TestClient) -> None:
    first = client.get("/web/app.js")
    assert first.headers["content-encoding"] == "gzip"
    assert first.content == (FOLDER / "app.js").read_bytes()
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/web/app.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for name in ("cache-control", "content-security-policy", "etag", "vary"):
        assert again.headers[name] == first.headers[name]
    plain = client.get("/web/app.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers and plain.content == first.content
    assert plain.headers["etag"] == first.headers["etag"] and plain.headers["etag"][:2] == "W/"
    assert client.get("/web/app.js", headers={"If-None-Match": "*"}).status_code == 304
    assert client.get("/web/no.js", headers={"If-None-Match": "*"}).status_code == 404
    other = client.get("/web/app.js", headers={"If-None-Match": '"another", W/"one"'})
    assert (other.status_code, other.content) == (200, first.content)


@pytest.mark.parametrize(
    "path",
    [
        "../app.py", "%2e%2e/app.py", "nothing.js", "", "views", "/etc/passwd.txt", "%00.js",
        "a" * 999 + ".js",
    ],
)  # fmt: skip
def test_no_other_file_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"/web/{path}").status_code == 404


def test_every_kind_of_file_has_its_type(client: TestClient) -> None:
    for path, kind in (
        ("vendor/preact.mjs", "text/javascript"),
        ("styles/base.css", "text/css"),
        ("icon.svg", "image/svg+xml"),
        ("vendor/inter.woff2", "font/woff2"),
    ):
        assert client.get(f"/web/{path}").headers["content-type"].startswith(kind)


@pytest.mark.parametrize(
    "folder",
    [FOLDER / "vendor", FOLDER / "api-docs" / "vendor", ROOT / "tests" / "browser" / "vendor"],
)
def test_what_is_vendored_is_what_the_lock_says(folder: Path) -> None:
    lock = json.loads((folder / "lock.json").read_text())
    known = {name: digest for package in lock for name, digest in package["files"].items()}
    there = {path.name for path in folder.iterdir()} - {"lock.json", "README.md"}
    assert there == set(known)
    for name, digest in known.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert all(package["version"] and package["licence"] for package in lock)


def test_the_page_is_small() -> None:
    kinds = {".html", ".js", ".mjs", ".css", ".svg", ".woff2"}
    files = [path for path in FOLDER.rglob("*") if path.suffix in kinds]
    # 3 s at 1 Mbit/s, once. Beside it stand the API's description, which few open, and the pages of
    # accounts, passkeys, people, spaces, shares and usage, which one person alone never loads.
    places = {"api-docs", "accounts", "sign-in.html", "usage", "usage.js", "usage.css"}
    apart = [path for path in files if places & {*path.relative_to(FOLDER).parts}]
    assert _sent(path for path in files if path not in apart) < 336_000
    assert _sent(path for path in apart if "api-docs" not in path.parts) < 31_200
    assert _sent(path for path in files if "api-docs" in path.parts) < 600_000


def _sent(files: Iterable[Path]) -> int:
    """Bytes of ``files`` as a browser gets them."""
    texts = [path.read_bytes() for path in files]
    return sum(min(len(data), len(gzip.compress(data))) for data in texts)


def test_the_description_of_the_api_is_ourown_files(client: TestClient) -> None:
    response = client.get("/docs")
    assert "https://" not in response.text and "//cdn" not in response.text
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert "require-trusted-types-for 'script'" in policy
    for path in re.findall(r'(?:src|href)="(/web/[^"]+)"', response.text):
        assert client.get(path).status_code == 200, path
    moved = client.get("/redoc", follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (307, "/docs")


def test_every_import_leads_to_a_file() -> None:
    for path in own_files(".js"):
        for target in _IMPORT.findall(path.read_text()):
            assert (path.parent / target).is_file(), f"{path.name}: {target}"


def test_what_the_first_paint_needs_is_asked_for_at_once() -> None:
    # else each module is asked for when the one before it was read, four deep
    needed, unread = set[Path](), [FOLDER / "app.js"]
    while unread:
        path = unread.pop()
        needed.add(path)
        found = {(path.parent / name).resolve() for name in _STATIC.findall(path.read_text())}
        unread += found - needed - set(unread)
    page = (FOLDER / "index.html").read_text()
    named = set(re.findall(r'<link rel="modulepreload" href="/web/([^"]+)"', page))
    wanted = {path.relative_to(FOLDER).as_posix() for path in needed} - {"app.js"}
    assert named == wanted | {"views/ask.js"}  # the view that most visits begin with


def test_the_page_names_no_other_host_and_has_no_inline_style() -> None:
    for path in own_files(".js", ".css", ".html"):
        text = path.read_text()
        assert not re.search(r"https?://(?!www\.w3\.org|example\.)\w", text), path
        assert 'style="' not in text.replace('style="…"', ""), path
        assert "innerHTML" not in text, path
