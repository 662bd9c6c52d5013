"""The page's files: headers, caching, what is vendored, and that it asks only what there is."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from helix.app import create_app
from helix.routes.web import FOLDER, assets
from helix.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
_ENDPOINT = re.compile(r'"(GET|POST|PATCH|DELETE) (/[^"]+)"')
_IMPORT = re.compile(r'(?:from|import)\s*\(?"(\.[^"]+)"')


@pytest.fixture(scope="module")
def client() -> TestClient:
    """The application without its lifespan: the page needs neither database nor model."""
    settings = load_settings(database_url="embedded", llm="offline", embedder="offline")
    return TestClient(create_app(settings))


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
    plain = client.get("/web/app.js", headers={"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["etag"] != first.headers["etag"]


@pytest.mark.parametrize("path", ["../app.py", "%2e%2e/app.py", "nothing.js", "", "views"])
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


@pytest.mark.parametrize("folder", [FOLDER / "vendor", ROOT / "tests" / "browser" / "vendor"])
def test_what_is_vendored_is_what_the_lock_says(folder: Path) -> None:
    lock = json.loads((folder / "lock.json").read_text())
    known = {name: digest for package in lock for name, digest in package["files"].items()}
    there = {path.name for path in folder.iterdir()} - {"lock.json", "README.md"}
    assert there == set(known)
    for name, digest in known.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert all(package["version"] and package["licence"] for package in lock)


def test_the_page_is_small() -> None:
    packed = sum(
        len(asset.small or asset.data)
        for path, asset in assets().items()
        if not path.endswith((".txt", ".md", ".json"))
    )
    assert packed < 300_000


def test_every_import_leads_to_a_file() -> None:
    for path in FOLDER.rglob("*.js"):
        for target in _IMPORT.findall(path.read_text()):
            assert (path.parent / target).is_file(), f"{path.name}: {target}"


def test_the_page_names_no_other_host_and_has_no_inline_style() -> None:
    own = [path for path in FOLDER.rglob("*") if path.suffix in (".js", ".css", ".html")]
    for path in own:
        text = path.read_text()
        assert not re.search(r"https?://(?!www\.w3\.org|example\.)\w", text), path
        assert 'style="' not in text.replace('style="…"', ""), path
        assert "innerHTML" not in text, path


def test_every_endpoint_of_the_page_is_in_the_openapi_document(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    texts = [path.read_text() for path in FOLDER.rglob("*.js")]
    wanted = {found for text in texts for found in _ENDPOINT.findall(text)}
    assert ("POST", "/v1/query") in wanted
    for method, path in wanted:
        assert method.lower() in paths.get(path, {}), f"{method} {path}"


def test_gzip_is_the_same_file() -> None:
    for asset in assets().values():
        assert asset.small is None or gzip.decompress(asset.small) == asset.data
