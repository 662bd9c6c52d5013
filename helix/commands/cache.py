"""``helix cache``: the size of the embedding cache, and emptying it."""

from __future__ import annotations

from typing import Annotated

import typer

from helix.commands.console import in_database
from helix.settings import load_settings
from helix.storage.cache_rows import cache_models, clear_cache

cache = typer.Typer(
    name="cache", help="The vectors that are kept so as not to be paid for twice.",
    no_args_is_help=True,
)  # fmt: skip


@cache.command()
def stats() -> None:
    """Entries and size, all and by model, beside the limit (HELIX_EMBED_CACHE_MB)."""
    megabytes, models = load_settings().embed_cache_mb, in_database(cache_models)
    limit = f"{megabytes} MB" if megabytes else "0: nothing is kept"
    typer.echo(f"entries  {sum(model.entries for model in models):,}")
    typer.echo(f"size     {_megabytes(sum(model.size for model in models))} (limit {limit})")
    if models:
        oldest = min(model.oldest for model in models)
        typer.echo(f"oldest   last used {oldest:%Y-%m-%d %H:%M %Z}")
    for model in models:
        typer.echo(f"  {model.model}: {model.entries:,} entries, {_megabytes(model.size)}")


@cache.command()
def clear(
    model: Annotated[
        str | None, typer.Option(help="Only this model, named as `helix cache stats` does.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget the vectors kept; documents and answers stay as they are."""
    subject = f"the vectors kept of {model}" if model else "all vectors kept"
    if not yes:
        typer.confirm(f"Forget {subject}? Making them again costs what they cost.", abort=True)
    entries = in_database(lambda connection: clear_cache(connection, model))
    typer.echo(f"{entries:,} entries removed")


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"
