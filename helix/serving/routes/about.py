"""The caller, and what this server can do or could: /v1/about, /v1/local-servers."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter

from helix import __version__
from helix.providers.local_servers import local_servers
from helix.serving.authentication import ApiRoute, CurrentCaller

router = APIRouter(prefix="/v1", route_class=ApiRoute)


@router.get("/about", summary="Who asks, and what the server can do")
async def about(caller: CurrentCaller) -> dict[str, Any]:
    """The tenant of the key or of `tenant_id`, how callers are told apart, and what is offered.

    `images`: whether the model can look at an image (`POST /ask-image`). `voice`: whether speech
    can be made text (`POST /v1/transcribe`). `study`: whether there are quizzes, cards, workshops,
    maps and progress (HELIX_STUDY). `mode`: how a question is answered that does not say.
    `models`: those that a question may choose, that of HELIX_LLM first; `model`: the name of the
    one that answers where a question chooses none, in `space` if the address names one. One that
    is `quotes_only` is no model: its answers are quoted by rules.
    """
    services = caller.services
    answerers = services.answering.answerers
    assert answerers is not None
    model = await answerers.name_of(None, caller.tenant, caller.scope.space)
    return {
        "tenant": caller.tenant,
        "auth": services.settings.auth,
        "version": __version__,
        "images": services.choices[model].sees,
        "voice": services.study is not None and services.study.transcriber is not None,
        "study": services.study is not None,
        "mode": services.settings.mode,
        "model": model,
        "models": [
            {
                "name": name,
                "title": llm.title,
                "identity": llm.identity,
                "quotes_only": llm.quotes_only,
                "images": llm.sees,
            }
            for name, llm in services.choices.items()
        ],
    }


@router.get("/local-servers", summary="Model servers beside this one")
async def servers(caller: CurrentCaller) -> dict[str, Any]:
    """List the servers that answer on this machine on their usual ports, for its administrator.

    Of each `title` and `models`, as `helix up --model` takes them. Where API keys are asked for,
    whoever asks is not who sets it up: then nothing is looked for.
    """
    found = []
    if caller.services.settings.auth == "off":
        found = await asyncio.to_thread(local_servers)
    return {"servers": [{"title": one.place.title, "models": one.names()} for one in found]}
