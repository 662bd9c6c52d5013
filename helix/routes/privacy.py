"""GET /v1/privacy: what leaves the machine, and what is stored."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from helix.privacy.report import privacy_report
from helix.routes.asker import Asker

router = APIRouter(prefix="/v1")


@router.get("/privacy", summary="What leaves the machine, and what is stored")
async def privacy(asker: Asker) -> dict[str, Any]:
    """Hosts that were contacted, counted at the socket; what the tenant has stored, and where."""
    return await privacy_report(asker.services, asker.library)
