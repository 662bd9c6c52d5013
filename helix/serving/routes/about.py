"""GET /v1/about: who asks, and what this server can do, so that a client offers no more."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from helix import __version__
from helix.serving.authentication import ApiRoute, CurrentCaller

router = APIRouter(prefix="/v1", route_class=ApiRoute)


@router.get("/about", summary="Who asks, and what the server can do")
async def about(caller: CurrentCaller) -> dict[str, Any]:
    """The tenant of the key or of `tenant_id`, how callers are told apart, and what is offered.

    `images`: whether the model can look at an image (`POST /ask-image`). `voice`: whether speech
    can be made text (`POST /v1/transcribe`). `mode`: how a question is answered that does not say.
    """
    services = caller.services
    return {
        "tenant": caller.tenant,
        "auth": services.settings.auth,
        "version": __version__,
        "images": services.llm.sees,
        "voice": services.transcriber is not None,
        "mode": services.settings.mode,
    }
