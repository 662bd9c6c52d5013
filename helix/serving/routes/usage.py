"""/v1/usage: what was used, of oneself or of everybody, and the limits of that."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from helix.errors import BadRequest, HelixError
from helix.library.access import Connected
from helix.library.usage_days import BY, USUAL, By, Wanted, to_csv, totals_of, usage_report
from helix.library.usage_limits import (
    Holder,
    UsageLimits,
    list_holders,
    list_limits,
    set_limits,
)
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller, allowance_of
from helix.serving.key_scopes import ScopeMissing
from helix.serving.person_route import as_owner
from helix.serving.sse import TextJson
from helix.telemetry.usage_meter import today

router = APIRouter(prefix="/v1/usage", tags=["usage"], route_class=ApiRoute)
_MOST_DAYS = 3660
_CSV = "text/csv"
Id = Annotated[int, Field(ge=1, lt=2**63)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Dollars = Annotated[float, Field(ge=0, le=10**12, allow_inf_nan=False)]


class NothingCounted(HelixError):
    """HELIX_USAGE_DAYS=0 counts nothing, so that no limit could hold."""

    status = 409


class NewLimits(BaseModel):
    """The limits of a person or a key; of neither: of each member who has none of their own."""

    model_config = ConfigDict(extra="forbid")

    person_id: Id | None = None
    key_id: Id | None = None
    questions_day: Count | None = None
    questions_month: Count | None = None
    tokens_day: Count | None = None
    tokens_month: Count | None = None
    cost_usd_day: Dollars | None = None
    cost_usd_month: Dollars | None = None
    tenant_id: str | None = None


@router.get("", summary="What was used", response_class=Response, responses={
    200: {"description": "Rows of counts", "content": {"application/json": {}, _CSV: {}}},
})  # fmt: skip
async def usage(
    request: Request,
    caller: CurrentCaller,
    first: Annotated[
        date | None, Query(alias="from", description="The first day (UTC); else of this month")
    ] = None,
    last: Annotated[date | None, Query(alias="to", description="The last day; else today")] = None,
    by: Annotated[str, Query(description=f"What is told apart: some of {', '.join(BY)}")] = (
        ",".join(USUAL)
    ),
    form: Annotated[
        Literal["json", "csv"] | None, Query(alias="format", description="Or by Accept")
    ] = None,
) -> Response:
    """One's own usage; an owner's, or that of a key with the scope admin, is everybody's.

    `cost_usd` leaves out the calls whose price is not known: `unpriced` of `calls`.
    """
    wanted = _wanted(caller, first, last, by)
    rows = await as_owner(caller.services, lambda connection: usage_report(connection, wanted))
    if form == "csv" or (form is None and _prefers_csv(request)):
        name = f"usage-{wanted.first}-{wanted.last}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Vary": "Accept"}
        return Response(to_csv(rows), media_type=f"{_CSV}; charset=utf-8", headers=headers)
    return TextJson({
        "from": wanted.first.isoformat(), "to": wanted.last.isoformat(), "by": list(wanted.by),
        "everybody": _sees_all(caller), "days_kept": caller.services.settings.usage_days,
        "rows": rows, "totals": totals_of(rows),
    }, headers={"Vary": "Accept"})  # fmt: skip


@router.get("/limits", summary="The limits of usage, and what is left")
async def limits(request: Request, caller: CurrentCaller) -> Response:
    """`own`: each limit that holds for oneself. For owners, `all` of the tenant, and `holders`."""
    allowance = allowance_of(request, caller)
    held = await allowance.held() if allowance else []
    told: dict[str, Any] = {"own": [
        {"of": each.who, "measure": each.measure, "period": each.period, "most": each.most,
         "used": each.used, "ends_at": f"{each.ends_at:%Y-%m-%dT%H:%M:%SZ}"}
        for each in held
    ]}  # fmt: skip
    if _sees_all(caller):
        tenant = caller.tenant
        told["all"], told["holders"] = await as_owner(
            caller.services,
            lambda connection: (list_limits(connection, tenant), list_holders(connection, tenant)),
        )
    return TextJson(told)


@router.put("/limits", summary="Limit what somebody may use")
async def limit(caller: CurrentCaller, wanted: NewLimits) -> Response:
    """Set the limits of a person, a key or everybody, from their next question on.

    A limit that is not named is none. `404`: the tenant has no such member or key.
    """
    caller = caller.for_tenant(wanted.tenant_id)
    if not _sees_all(caller):
        raise ScopeMissing("limits of usage are set by whoever reads the whole tenant")
    if not caller.services.settings.usage_days:
        raise NothingCounted("HELIX_USAGE_DAYS is 0: nothing is counted that could be limited")
    if wanted.person_id is not None and wanted.key_id is not None:
        raise BadRequest("limits are of a person_id or of a key_id, not of both")
    holder = Holder(caller.tenant, wanted.person_id, wanted.key_id)
    given = wanted.model_dump(exclude={"person_id", "key_id", "tenant_id"})

    def change(connection: Connected) -> None:
        set_limits(connection, holder, UsageLimits(**given))

    await as_owner(caller.services, change)
    caller.changed(f"limits of {_name_of(holder)}")
    return TextJson(wanted.model_dump(exclude={"tenant_id"}))


def _name_of(holder: Holder) -> str:
    if holder.person_id is not None:
        return f"person {holder.person_id}"
    return "everybody" if holder.key_id is None else f"key {holder.key_id}"


def _sees_all(caller: Caller) -> bool:
    """True of an owner, and of a key with the scope admin that is limited to no spaces."""
    return "admin" in caller.scopes and caller.spaces is None


def _wanted(caller: Caller, first: date | None, last: date | None, by: str) -> Wanted:
    end = last or today()
    begin = first or end.replace(day=1)
    if not 0 <= (end - begin).days < _MOST_DAYS:
        raise BadRequest(f"from is a day before to, by {_MOST_DAYS} at most")
    chosen: list[By] = [name for name in BY if name in by.split(",")]
    if set(by.split(",")) - set(BY):
        raise BadRequest(f"by names some of {', '.join(BY)}, with commas between")
    person = key = None
    if not _sees_all(caller):
        person, key = caller.person_id, None if caller.person_id else caller.key_id
    return Wanted(caller.tenant, begin, end, chosen, person, key, caller.spaces)


def _prefers_csv(request: Request) -> bool:
    """True if the request accepts CSV and names JSON not at all, or after it."""
    accepted = [part.partition(";")[0].strip() for part in
                request.headers.get("accept", "").lower().split(",")]  # fmt: skip
    if _CSV not in accepted:
        return False
    return "application/json" not in accepted or (
        accepted.index(_CSV) < accepted.index("application/json")
    )
