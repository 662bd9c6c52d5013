"""Who asks, and whose documents that opens: what every route but /healthz depends on.

With HELIX_AUTH=off the request names its tenant; with HELIX_AUTH=keys its key does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Query, Request

from helix.errors import BadRequest, HelixError
from helix.keys import tenant_of
from helix.library.access import Library
from helix.routes.state import services
from helix.scope import DEFAULT_TENANT, tenant_name
from helix.services import Services

# one for all of them: it tells nothing about a key that somebody tries
_REFUSED = "an API key is needed: send Authorization: Bearer hx_…, made with `helix keys create`"
_TWICE = "tenant_id is given twice, and not the same"


class OtherTenant(HelixError):
    """The key is another tenant's, or nobody's: which, is not told."""

    status = 403


@dataclass(frozen=True)
class Asking:
    """Whose documents a request is about. ``keyed``: its key says so."""

    services: Services
    tenant: str
    keyed: bool
    chosen: bool = False

    @property
    def library(self) -> Library:
        """Documents and runs of the tenant."""
        return self.services.library.of(self.tenant)

    def named(self, tenant_id: str | None) -> Asking:
        """The same where the body of the request has this ``tenant_id``; None: it has none.

        Raises:
            OtherTenant: the key is not this tenant's.
            BadRequest: it names no tenant, or another than the address does.
        """
        if tenant_id is None:
            return self
        if self.keyed:
            if tenant_id != self.tenant:
                raise OtherTenant("tenant_id is not the tenant of this API key: leave it out")
            return self
        if self.chosen and tenant_id != self.tenant:
            raise BadRequest(_TWICE)
        return Asking(self.services, tenant_name(tenant_id), keyed=False, chosen=True)


async def asker(
    request: Request,
    tenant_id: Annotated[
        str | None, Query(description="Whose documents; where keys are asked for, the key says so")
    ] = None,
) -> Asking:
    """Who asks.

    Raises:
        HTTPException: 401, there is no key, or it opens nothing.
        OtherTenant, BadRequest: as ``named`` does, of the address.
    """
    held = services(request)
    if held.settings.auth == "keys":
        tenant = await tenant_of(held.store, _bearer(request))
        if tenant is None:
            raise HTTPException(401, _REFUSED, {"WWW-Authenticate": "Bearer"})
        asking = Asking(held, tenant, keyed=True)
    else:
        asking = Asking(held, DEFAULT_TENANT, keyed=False)
    if len(set(request.query_params.getlist("tenant_id"))) > 1:
        raise BadRequest(_TWICE)
    return asking.named(tenant_id)


def _bearer(request: Request) -> str:
    """What stands after Bearer in the one Authorization header; nothing where it does not."""
    sent = request.headers.getlist("authorization")
    scheme, _, secret = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
    return secret.strip() if scheme.lower() == "bearer" else ""


Asker = Annotated[Asking, Depends(asker)]
