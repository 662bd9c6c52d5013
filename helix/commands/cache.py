"""``helix cache``: what the embedding cache holds, and emptying it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

import psycopg
import typer

from helix.cache_rows import CacheModel, Connected, cache_models, clear_cache
from helix.database import open_url
from helix.errors import HelixError
from helix.settings import Settings, load_settings
from helix.unavailable import unavailable

cache = typer.Typer(
    name="cache", help="The vectors that are kept so as not to be paid for twice.",
    no_args_is_help=True,
)  # fmt: skip

T = TypeVar("T")


@cache.command()
def stats() -> None:
    """Entries and size, all and by model, beside the limit (HELIX_EMBED_CACHE_MB)."""
    settings, models = _in_database(cache_models)
    limit = f"{settings.embed_cache_mb} MB" if settings.embed_cache_mb else "0: nothing is kept"
    size = _megabytes(sum(model.size for model in models))
    typer.echo(f"entries  {sum(model.entries for model in models):,}")
    typer.echo(f"size     {size} (limit {limit})")
    if models:
        oldest = min(model.oldest for model in models)
        typer.echo(f"oldest   last used {oldest:%Y-%m-%d %H:%M %Z}")
    for model in models:
        typer.echo(f"  {model.model}: {_told(model)}")


@cache.command()
def clear(
    model: Annotated[
        str | None, typer.Option(help="Only this model, named as `helix cache stats` does.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget the vectors kept; documents and answers stay as they are."""
    what = f"the vectors kept of {model}" if model else "all vectors kept"
    if not yes:
        typer.confirm(f"Forget {what}? Making them again costs what they cost.", abort=True)
    _, entries = _in_database(lambda connection: clear_cache(connection, model))
    typer.echo(f"{entries:,} entries removed")


def _told(model: CacheModel) -> str:
    return f"{model.entries:,} entries, {_megabytes(model.size)}"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"


def _in_database(action: Callable[[Connected], T]) -> tuple[Settings, T]:
    """What ``action`` gives on a connection of its own; ends the process where there is none."""
    try:
        settings = load_settings()
        return settings, asyncio.run(_connected(settings, action))
    except HelixError as error:
        typer.echo(f"helix: {error}", err=True)
        raise typer.Exit(1) from None


async def _connected(settings: Settings, action: Callable[[Connected], T]) -> T:
    async with open_url(settings) as url:
        try:
            with psycopg.connect(url) as connection:
                return action(connection)
        except psycopg.Error as error:
            raise unavailable(error) from error
