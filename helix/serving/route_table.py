"""Every route of a server: a file of ``routes/`` a resource, in the order in which they match."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI

from helix.serving.routes import (
    about,
    ask,
    ask_image,
    attachment_pages,
    attachments,
    batches,
    conversation_images,
    conversations,
    documents,
    erasures,
    library,
    mcp,
    messages,
    openai,
    operations,
    pages,
    prompts,
    query,
    receipts,
    runs,
    search,
    sources,
    spaces,
    suggestions,
    tenant_settings,
    ui_chat,
    uploads,
    usage,
    web,
    web_imports,
)
from helix.settings import Settings

_ROUTERS = (
    operations.open_router, ask.router, query.router, ask_image.router, receipts.router,
    uploads.router, web_imports.router, batches.router, library.router, documents.router,
    erasures.router,
    pages.router, runs.router, search.router, spaces.router, sources.router, suggestions.router,
    operations.router, about.router,
    conversations.router, messages.router, attachments.router, attachment_pages.router,
    conversation_images.router,
    openai.router, ui_chat.router, prompts.router,
    tenant_settings.router, usage.router,
)  # fmt: skip


def add_routes(application: FastAPI, settings: Settings) -> None:
    """Give ``application`` the routes that ``settings`` ask for."""
    # first: a page is some hundred files, and each would be compared with every route before them
    application.routes.extend(web.routes(settings))
    for router in (*_ROUTERS, *_study_routers(settings), *_account_routers(settings)):
        # as they are: include_router would build each anew, 0.2 s of the first request
        application.routes.extend(router.routes)
    application.routes.extend(mcp.routes)


def _account_routers(settings: Settings) -> Sequence[APIRouter]:
    if settings.auth != "accounts":
        return ()
    from helix.serving.routes.accounts import ROUTERS  # where nobody signs in, none of it is loaded

    return ROUTERS


def _study_routers(settings: Settings) -> Sequence[APIRouter]:
    if settings.study == "off":
        return ()
    from helix.serving.routes.study import ROUTERS  # whoever wants answers alone loads none of it

    return ROUTERS
