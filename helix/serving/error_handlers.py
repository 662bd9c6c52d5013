"""Errors as responses: one line of JSON with the status of the error, never a traceback."""

from __future__ import annotations

import logging
import re
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from helix.errors import HelixError
from helix.overload.limits import LimitReached
from helix.protocols.openai_text import error_json
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST
from helix.serving.openai_route import is_openai_path

_logger = logging.getLogger(__name__)
_ROUTES = "chat/completions, responses, embeddings and models are"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def add_error_handlers(application: FastAPI) -> None:
    """Have ``application`` answer every error with ``{"error": <one line>}``."""

    @application.exception_handler(HelixError)
    async def helix_error(_: Request, error: HelixError) -> JSONResponse:
        if error.status >= 500:
            _logger.warning("no answer: %s", error)
        # the message may quote an id of the request, which may hold line ends
        line = _CONTROLS.sub(" ", str(error))
        return JSONResponse({"error": line}, status_code=error.status)

    @application.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        # a key of the body may be the place
        line = _CONTROLS.sub(" ", _problem(error.errors()[0]))
        return JSONResponse({"error": line}, status_code=400)

    @application.exception_handler(ClientDisconnect)
    async def disconnected(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    @application.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error, LimitReached):
            request.state.refused_for = error.setting
        told: dict[str, Any] = {"error": error.detail}
        if error.status_code in (404, 405) and is_openai_path(request.url.path):
            told = error_json(f"there is no such route here: {_ROUTES}", error.status_code)
        return JSONResponse(told, status_code=error.status_code, headers=error.headers)


def _problem(first: dict[str, Any]) -> str:
    """The first error of a request as one line; the rejected value is left out."""
    place = [str(part) for part in first["loc"]]
    if first["type"] == "json_invalid":
        return f"the body is no JSON: {first['ctx']['error']}, at character {place[-1]}"
    if place == ["body"] and first["type"] != "missing":
        return "the body is no JSON object: send one, with Content-Type: application/json"
    return f"{'.'.join(place)}: {first['msg']}"
