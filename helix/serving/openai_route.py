"""The route class of the OpenAI-compatible routes: errors in the format of that protocol."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from helix.errors import HelixError, UpstreamError
from helix.overload.limits import LimitReached
from helix.protocols.openai_text import error_json
from helix.serving.authentication import ApiRoute
from helix.serving.sse import TextJson

_logger = logging.getLogger(__name__)


_HEADS = frozenset({
    "assistants", "audio", "batches", "chat", "completions", "containers", "embeddings", "engines",
    "files", "fine_tuning", "images", "models", "moderations", "organization", "realtime",
    "responses", "threads", "uploads", "vector_stores", "videos",
})  # fmt: skip
"""The first parts of OpenAI's paths; `conversations` and `evals` are Helix's own."""


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
