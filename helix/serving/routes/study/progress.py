"""/v1/progress: a learner's sessions and actions, in days of a time zone."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from helix.library.errors import NotFound
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.sse import TextJson
from helix.study.progress.actions import Learner
from helix.study.progress.storage import ProgressLog, forget, switch
from helix.study.progress.summary import read_day, read_progress

router = APIRouter(
    prefix="/v1/progress", tags=["progress"], route_class=ApiRoute,
    default_response_class=Response,
    responses={404: {"description": "No progress is kept (HELIX_PROGRESS=off)"}},
)  # fmt: skip
TimeZone = Annotated[
    str, Query(alias="time_zone", max_length=100, description="An IANA name: whose days they are")
]


@router.get("", summary="Progress")
async def progress(caller: CurrentCaller, zone: TimeZone = "UTC") -> Response:
    """Return totals, streak, the last 90 days with levels 0 to 4, badges; and if it is on."""
    log = await _up_to_date(caller)
    found = await read_progress(caller.library, _learner(caller), zone)
    return TextJson({**found, "on": found["on"] or not log.asks})


@router.get("/days/{day}", summary="One day of progress")
async def one_day(caller: CurrentCaller, day: date, zone: TimeZone = "UTC") -> Response:
    """The day's sessions, cut at midnight, and the number of each action."""
    await _up_to_date(caller)
    return TextJson(await read_day(caller.library, _learner(caller), day, zone))


class Turned(BaseModel):
    """The choice of the caller to have progress kept from now on, or not."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    on: bool
    tenant_id: str | None = None


@router.patch("", summary="Turn progress on or off", status_code=204)
async def turned(caller: CurrentCaller, wanted: Turned) -> Response:
    """Nothing is kept of the caller until it is turned on; turned off, what was kept stays."""
    caller = caller.for_tenant(wanted.tenant_id)
    await _up_to_date(caller)
    await caller.library.change(partial(switch, learner=_learner(caller), on=wanted.on))
    return Response(status_code=204)


@router.delete("", summary="Delete progress", status_code=204)
async def delete(caller: CurrentCaller) -> Response:
    """Delete the caller's progress: that of the key's name, or of the tenant without one."""
    await _up_to_date(caller)
    await caller.library.change(partial(forget, learner=_learner(caller)))
    return Response(status_code=204)


def _learner(caller: Caller) -> Learner:
    return Learner(caller.tenant, caller.learner)


async def _up_to_date(caller: Caller) -> ProgressLog:
    """The log, once the actions that it has noted are written, so that the reader sees them.

    Raises:
        NotFound: no progress is kept (HELIX_PROGRESS=off).
    """
    assert caller.services.study is not None
    log = caller.services.study.progress
    if not log.kept:
        raise NotFound("no progress is kept: HELIX_PROGRESS is off")
    await log.write()
    return log
