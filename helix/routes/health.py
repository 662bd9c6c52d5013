"""GET /healthz: whether the database answers."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from helix.routes.state import services

router = APIRouter()


@router.get("/healthz", summary="Is the database there?", responses={503: {"description": "No"}})
async def healthz(request: Request) -> JSONResponse:
    """`200 {"ok": true}` when `SELECT 1` succeeds, `503 {"ok": false}` otherwise."""
    ok = await services(request).store.ping()
    return JSONResponse({"ok": ok}, status_code=200 if ok else 503)
