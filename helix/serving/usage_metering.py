"""The meter of each request of somebody who is known: what it uses is counted for them."""

from __future__ import annotations

from fastapi import Request

from helix.library.usage_limits import Allowance
from helix.serving.access_recorder import AccessRecorder
from helix.serving.caller import Caller
from helix.telemetry.usage_meter import Payer, UsageMeter, use_meter


def allowance_of(request: Request, caller: Caller) -> Allowance | None:
    """The allowance of ``caller``; None: nobody is known, or HELIX_USAGE_DAYS=0 counts nothing."""
    known = caller.key_id is not None or caller.person_id is not None
    if not known or not caller.services.settings.usage_days:
        return None
    recorder: AccessRecorder = request.state.recorder
    spaces = caller.reach.spaces
    payer = Payer(caller.tenant, caller.person_id, caller.key_id)
    only = spaces[0] if spaces and len(spaces) == 1 else None
    meter = UsageMeter(payer, recorder.used.add, only)
    return Allowance(caller.services.store, meter, caller.limits or (), recorder.used)


def meter_request(request: Request, caller: Caller) -> None:
    """Count for ``caller`` what is used in this context from now on, within their limits."""
    allowance = allowance_of(request, caller)
    request.state.allowance = allowance
    use_meter(allowance.meter if allowance else None)
