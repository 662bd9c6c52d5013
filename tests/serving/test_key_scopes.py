"""Every route has its line in the table of scopes, and the table no line too many."""

from __future__ import annotations

import re

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute, iter_route_contexts

from helix.app import create_app
from helix.serving.authentication import ApiRoute
from helix.serving.key_scopes import NEEDED, needed_scope
from helix.serving.routes import web
from helix.settings import load_settings
from tests.support.live_server import OFFLINE

OPEN = {"/healthz", "/health", "/readyz", "/.well-known/helix-keys.json"}


def test_the_table_has_each_route_and_no_other() -> None:
    application = create_app(load_settings(database_url="postgresql://nowhere/none", **OFFLINE))
    routes = {
        (method, context.path)
        for context in iter_route_contexts(application.routes)
        if isinstance(context.original_route, APIRoute) and context.path not in OPEN
        for method in context.methods or ()
    }
    assert set(NEEDED) == routes | {("GET", web.API_DOCS), ("GET", web.OPENAPI)}


def test_what_changes_documents_is_more_than_reading() -> None:
    for (method, path), scope in NEEDED.items():
        if re.search("conversations|/study|/progress", path):  # who asks may keep it
            assert scope == ("write" if path.endswith("/library") else "ask"), (method, path)
        elif method in ("PATCH", "PUT", "DELETE") or (method == "POST" and "documents" in path):
            # a source is an address and a password that the server is given
            admin = path.startswith(("/v1/sources", "/v1/usage/limits"))
            assert scope == ("admin" if admin else "write"), (method, path)
        elif method == "GET":
            assert scope != "write", (method, path)


def test_a_route_without_a_line_cannot_be_made() -> None:
    router = APIRouter(prefix="/v1", route_class=ApiRoute)
    with pytest.raises(RuntimeError, match="POST /v1/new has no line in"):
        router.add_api_route("/new", lambda: None, methods=["POST"])
    with pytest.raises(RuntimeError, match="make them two routes"):
        needed_scope(["GET", "PATCH"], "/v1/documents/{document_id}")
