"""The server's OpenAPI document: FastAPI's, with the keys and the errors that there really are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from helix.serving.authentication import ApiRoute
from helix.serving.key_scopes import public_part
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
