"""The bearer tokens that open /mcp: keys, and access tokens of providers of OpenID Connect."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from helix.errors import UpstreamError
from helix.library.keys import KeyAccess, access_of_key
from helix.library.people.claims import access_of_identity
from helix.services import Services
from helix.serving.openid import OpenIdProvider
from helix.serving.person_route import as_owner


async def access_of_bearer(
    services: Services, providers: Mapping[str, OpenIdProvider], resource: str, token: str
) -> KeyAccess | None:
    """The access that ``token`` gives; None: it gives none.

    A provider's is a JWT that was made for ``resource``, the address of /mcp (RFC 8707), of
    somebody who signed in here with it before.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    if opened := await access_of_key(services.store, token):
        return opened
    for provider in providers.values() if services.settings.auth == "accounts" else ():
        try:
            subject = await provider.subject_of(token, resource)
        except UpstreamError:
            continue
        if subject is not None:
            given = provider.given
            return await as_owner(services, partial(
                access_of_identity, issuer=given.issuer, subject=subject, tenant=given.tenant
            ))  # fmt: skip
    return None
