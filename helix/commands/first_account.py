"""The link to the first account, printed where a server asks people to sign in and has none yet."""

from __future__ import annotations

import typer

from helix.commands.console import in_database
from helix.domain.scope import DEFAULT_TENANT
from helix.library.people.invitations import first_link, link_to


def offer_first_account(address: str, url: str | None) -> None:
    """Print a link, good once and for a day, by which somebody becomes the first owner.

    It goes to the terminal and into no log. Each start prints another, and the earlier ones open
    nothing any more.
    """
    secret = in_database(lambda connection: first_link(connection, DEFAULT_TENANT))
    if secret is not None:
        typer.echo("nobody has an account yet; a link that makes one, once, for a day:", err=True)
        typer.echo(link_to(url or address, secret), err=True)
