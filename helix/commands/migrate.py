"""``helix migrate``: the database at this version's schema."""

from __future__ import annotations

from typing import Annotated

import typer

from db.migrate import main


def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing: say what there is to do; 1 if any.")
    ] = False,
) -> None:
    """Bring the database of DATABASE_URL to Helix's schema.

    Safe to run at any time, any number of times, from any number of places. The embedded database
    needs it never: whatever opens it does it.
    """
    raise typer.Exit(main(["--check"] if check else []))
