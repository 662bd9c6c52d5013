"""GET /v1/evals/last: the last evaluation that was run on this machine."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from fastapi import APIRouter, HTTPException

from helix.evals_report import last_report
from helix.routes.asker import Asker

router = APIRouter(prefix="/v1")

_NONE = "no evaluation was run on this machine yet: run `python -m evals.run`"


@router.get(
    "/evals/last",
    summary="The last evaluation",
    responses={404: {"description": "None was run on this machine"}},
)
async def last(asker: Asker) -> dict[str, Any]:
    """Its totals with intervals and, where no API keys are asked for, its cases.

    A report is of the machine, not of a tenant: with keys its questions and answers stay out.
    """
    with_cases = asker.services.settings.auth == "off"
    report = await asyncio.to_thread(partial(last_report, with_cases=with_cases))
    if report is None:
        raise HTTPException(404, _NONE)
    return report
