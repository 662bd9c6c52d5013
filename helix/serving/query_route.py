"""The route class of questions: their failures have the statuses of POST /v1/query."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from helix.errors import HelixError, UpstreamError
from helix.serving.authentication import ApiRoute
from helix.serving.error_handlers import error_response
from helix.serving.query_request import MAX_BYTES


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
