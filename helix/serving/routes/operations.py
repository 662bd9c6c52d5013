"""Routes for operators: probes, /metrics, /v1/privacy, the last evaluation, public keys."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, Response

from db.embedded_postgres import default_directory
from helix.library.privacy.report import privacy_report
from helix.library.signing_keys import public_keys
from helix.overload.entry import Overload, asker
from helix.overload.limits import MEGABYTE
from helix.services import Services
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.health_watch import HealthWatch

PACKAGED = Path(__file__).with_name("packaged_report.json")
"""The report that comes with Helix, made by ``python -m evals.report.package``."""
_LARGEST_REPORT = 32 * MEGABYTE  # 80 cases take 0.1 MB

open_router = APIRouter()
"""Routes without authentication, for probes and for strangers who verify an answer."""
router = APIRouter(route_class=ApiRoute)


@open_router.head("/healthz", include_in_schema=False)
@open_router.get(
    "/healthz", summary="Is the database there?", responses={503: {"description": "No"}}
)
async def healthz(request: Request) -> JSONResponse:
    """`200 {"ok": true}` when `SELECT 1` succeeds, `503 {"ok": false}` otherwise."""
    services: Services = request.state.services
    ok = await services.store.connections.ping()
    return JSONResponse({"ok": ok}, status_code=200 if ok else 503)


@open_router.head("/health", include_in_schema=False)
@open_router.get(
    "/health", summary="The same, by another name", responses={503: {"description": "No"}}
)
async def health(request: Request) -> JSONResponse:
    """`200 {"status": "ok"}` where `/healthz` is `200`, else `503 {"status": "unavailable"}`."""
    services: Services = request.state.services
    ok = await services.store.connections.ping()
    return JSONResponse({"status": "ok" if ok else "unavailable"}, status_code=200 if ok else 503)


@open_router.head("/readyz", include_in_schema=False)
@open_router.get(
    "/readyz", summary="Should it get more questions?", responses={503: {"description": "No"}}
)
async def readyz(request: Request) -> JSONResponse:
    """`200 {"ready": true}`; `503` with a `reason`.

    It is `database`, `overloaded`, or `threads` or `connections` where all of them are stuck. With
    `notices` where a model has ended or ends within 60 days: such a server is ready all the same.
    """
    services: Services = request.state.services
    overload: Overload = request.state.overload
    health: HealthWatch = request.state.health
    reason = health.stuck or ("overloaded" if overload.admission.is_full else None)
    if not await services.store.connections.ping():
        reason = "database"
    state: dict[str, Any] = {"ready": reason is None} | ({"reason": reason} if reason else {})
    today = datetime.now(UTC).date()
    if notices := [told for each in services.lifetimes if (told := each.notice(today))]:
        state["notices"] = notices
    return JSONResponse(state, status_code=503 if reason else 200)


@open_router.get("/.well-known/helix-keys.json", summary="The public keys of signed answers")
async def keys(request: Request) -> dict[str, Any]:
    """List every key that has signed an answer, the newest first; former ones verify theirs.

    Of each `key_id`, `algorithm`, `public_key` in hex, and `first_used_at`.
    """
    services: Services = request.state.services
    asker(request).check_rate()
    return {"keys": await public_keys(services.library)}


@router.get("/metrics", summary="For Prometheus", response_class=Response)
async def metrics(request: Request, caller: CurrentCaller) -> Response:
    """Text format 0.0.4, or OpenMetrics where that is accepted; 404 with HELIX_METRICS=0."""
    services = caller.services
    if not services.settings.metrics:
        raise HTTPException(404)
    body, content_type = await services.metrics.scrape(request.headers.get("accept", ""))
    return Response(body, headers={"Content-Type": content_type, "Cache-Control": "no-store"})


@router.get("/v1/privacy", summary="What leaves the machine, and what is stored")
async def privacy(caller: CurrentCaller) -> dict[str, Any]:
    """Hosts that were contacted, counted at the socket; what the tenant has stored, and where."""
    services = caller.services
    return await privacy_report(
        services.settings, services.store, caller.library, services.models()
    )


@router.get("/v1/evals/last", summary="The last evaluation")
async def last_evaluation(caller: CurrentCaller) -> dict[str, Any]:
    """Its totals with intervals and, where no API keys are asked for, its cases.

    Where none was run on this machine it is the one that came with Helix, and `packaged` is true.
    A report is of the machine, not of a tenant: with keys its questions and answers stay out.
    """
    report, packaged = await asyncio.to_thread(_read_report, last_report_file()), False
    if report is None:
        report, packaged = await asyncio.to_thread(_read_report, PACKAGED), True
    report = {**(report or {}), "packaged": packaged}
    if caller.services.settings.auth != "off":
        report |= {"cases": [], "comparison": None}
    return report


def last_report_file() -> Path:
    """The file of the report of ``python -m evals.run``: ``<user data>/helix/evals/last.json``."""
    return default_directory().parent / "evals" / "last.json"


def _read_report(path: Path) -> dict[str, Any] | None:
    try:
        if path.stat().st_size > _LARGEST_REPORT:
            return None
        report = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None
