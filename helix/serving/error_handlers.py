"""Errors as responses: one line of JSON with the status of the error, never a traceback."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from helix.errors import HelixError, UpstreamError
from helix.overload.limits import LimitReached
from helix.protocols.openai_text import error_json
from helix.serving.authentication import ApiRoute
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST
from helix.serving.query_request import MAX_BYTES
from helix.serving.sse import TextJson

_logger = logging.getLogger(__name__)
_HEADS = frozenset({
    "assistants", "audio", "batches", "chat", "completions", "containers", "embeddings", "engines",
    "files", "fine_tuning", "images", "models", "moderations", "organization", "realtime",
    "responses", "threads", "uploads", "vector_stores", "videos",
})  # fmt: skip
"""The first parts of OpenAI's paths; `conversations` and `evals` are Helix's own."""
_ROUTES = "chat/completions, responses, embeddings and models are"
_ROUTER_SAYS = frozenset({HTTPStatus.NOT_FOUND.phrase, HTTPStatus.METHOD_NOT_ALLOWED.phrase})
_UNREADABLE = (
    "the body is no JSON that can be read: it is not in UTF-8, nested too deep, or has a number of"
    " too many digits"
)
_LONGEST_PATH = 200
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def is_openai_path(path: str) -> bool:
    """True if a path is of OpenAI's API, so that a client of it reads the error."""
    version, _, rest = path.removeprefix("/").partition("/")
    return version == "v1" and rest.partition("/")[0] in _HEADS


class OpenAIRoute(ApiRoute):
    """A route whose failures are ``{"error": {"message", "type", "param", "code"}}``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, whose errors have the format that OpenAI's clients read."""
        handler = super().get_route_handler()

        async def in_its_shape(request: Request) -> Response:
            try:
                return await handler(request)
            except HelixError as error:
                status = 502 if isinstance(error, UpstreamError) else error.status
                if status >= 500:
                    _logger.warning("no answer: %s", error)
                param, code = getattr(error, "param", None), getattr(error, "code", "")
                return TextJson(error_json(str(error), status, param, code), status)
            except HTTPException as error:
                if isinstance(error, LimitReached):
                    request.state.refused_for = error.setting
                error_body = error_json(error.detail, error.status_code)
                return TextJson(error_body, error.status_code, headers=error.headers)

        return in_its_shape


def add_error_handlers(application: FastAPI) -> None:
    """Have ``application`` answer every error with ``{"error": <one line>}``."""

    @application.exception_handler(HelixError)
    async def helix_error(_: Request, error: HelixError) -> JSONResponse:
        return error_response(error, error.status)

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
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_methods(request))
        if isinstance(error.__cause__, ValueError | RecursionError):  # of FastAPI's, reading a body
            told = {"error": _UNREADABLE}
        elif error.status_code in (404, 405) and is_openai_path(request.url.path):
            told = error_json(f"there is no such route here: {_ROUTES}", error.status_code)
        elif error.detail in _ROUTER_SAYS:
            told = {"error": _no_route(request, headers.get("Allow"))}
        return JSONResponse(told, status_code=error.status_code, headers=headers)


def _methods(request: Request) -> list[str]:
    """The methods of all routes of the request's path; the router names those of the first."""
    routes = [
        route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE
    ]
    return sorted({method for route in routes for method in getattr(route, "methods", None) or ()})


def _no_route(request: Request, allowed: str | None) -> str:
    """The line for an error of the router: a path without a route, or without this method."""
    path = _CONTROLS.sub(" ", request.url.path)[:_LONGEST_PATH]
    if allowed:
        return f"{path} takes no {request.method}: it takes {allowed}"
    return f"there is no route {request.method} {path}: GET /openapi.json lists them"


def error_response(error: HelixError, status: int) -> JSONResponse:
    """The response to a failed request, as one line; logged where the server is at fault."""
    if status >= 500:
        _logger.warning("no answer: %s", error)
    # the message may quote an id of the request, which may hold line ends
    return JSONResponse({"error": _CONTROLS.sub(" ", str(error))}, status_code=status)


def _problem(first: dict[str, Any]) -> str:
    """The first error of a request as one line; the rejected value is left out."""
    place = [str(part) for part in first["loc"]]
    if first["type"] == "json_invalid":
        return f"the body is no JSON: {first['ctx']['error']}, at character {place[-1]}"
    if place == ["body"]:
        return "the body is no JSON object: send one, with Content-Type: application/json"
    if first["type"] == "extra_forbidden":
        return f'"{".".join(place[1:])}" is no key of this request'
    return f"{'.'.join(place)}: {first['msg']}"


class QueryRoute(ApiRoute):
    """A route whose failures have the statuses of the contract, wherever they come from."""

    max_body_bytes = MAX_BYTES
    too_large_status = 400

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, its errors as statuses."""
        handler = super().get_route_handler()

        async def with_contract_status(request: Request) -> Response:
            try:
                return await handler(request)
            except HelixError as error:
                return error_response(error, _contract_status(error))

        return with_contract_status


def _contract_status(error: HelixError) -> int:
    """The contract's status of a failure: 502 of a model, 500 of all else that is the server's."""
    if isinstance(error, UpstreamError):
        return 502
    return error.status if error.status <= 501 else 500  # 501: the model takes no images
