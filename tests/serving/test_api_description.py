"""GET /openapi.json: errors as they are sent, and a key where one is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from helix.app import create_app
from helix.serving.routes.web import openapi_document
from helix.settings import load_settings
from tests.support.live_server import OFFLINE

ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}


def _document(**values: object) -> dict[str, Any]:
    settings = load_settings(database_url="postgresql://nobody@127.0.0.1/x", **OFFLINE, **values)
    application = create_app(settings)
    document = openapi_document(application, settings)
    assert openapi_document(application, settings) is document
    return document


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_a_malformed_request_is_described_as_it_is_answered() -> None:
    document = _document()
    assert "HTTPValidationError" not in str(document)
    assert document["components"]["schemas"]["Error"]["required"] == ["error"]
    listing = document["paths"]["/v1/documents"]["get"]["responses"]
    assert listing["400"]["content"] == ERROR and "422" not in listing
    uploads = document["paths"]["/v1/documents"]["post"]["responses"]["400"]
    assert uploads == {"description": "No file, or an empty one", "content": ERROR}
    drawn = document["paths"]["/v1/documents/{document_id}/pages/{number}.png"]["get"]
    assert "damaged" in drawn["responses"]["422"]["description"]


def test_a_key_is_described_where_one_is_needed() -> None:
    open_to_all = _document()
    assert "securitySchemes" not in open_to_all["components"]
    document = _document(auth="accounts", public="evals")
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    keyed = {name for name, each in _operations(document) if each.get("security") == [{"key": []}]}
    needed = {"GET /ask", "POST /v1/query", "GET /v1/models/{model}", "GET /metrics"}
    assert needed <= keyed
    assert not {"GET /healthz", "GET /v1/evals/last", "GET /v1/session"} & keyed
    assert "GET /v1/session" in dict(_operations(document))
