"""The routes of HELIX_AUTH=accounts: signing in, one's account, the tenant's members and groups."""

from helix.serving.routes.accounts import (
    account,
    groups,
    links,
    members,
    openid,
    passkeys,
    session,
    shared,
    shares,
    space_members,
)

ROUTERS = (
    session.router,
    passkeys.router,
    openid.router,
    links.router,
    account.router,
    members.router,
    groups.router,
    shares.router,
    shared.router,
    space_members.router,
)
