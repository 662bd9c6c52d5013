"""GET /metrics: counts and times of this process, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from helix.routes.state import services

router = APIRouter()


@router.get("/metrics", summary="For Prometheus", response_class=Response)
async def metrics(request: Request) -> Response:
    """Text format 0.0.4, or OpenMetrics where that is accepted; 404 with HELIX_METRICS=0."""
    held = services(request)
    if not held.settings.metrics:
        raise HTTPException(404)
    body, content_type = await held.metrics.scrape(request.headers.get("accept", ""))
    return Response(body, headers={"Content-Type": content_type, "Cache-Control": "no-store"})
