"""``python -m pipelines.reembed``: change the embedder of a database that goes on answering."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Annotated

import typer

from helix.errors import HelixError, SettingsError, Unavailable
from helix.providers.factories import build_next_embedder
from helix.retrieval.embedding_cache import with_cache
from helix.retrieval.vector_space import learn_space
from helix.settings import Settings, load_settings
from helix.storage.database import open_url
from helix.store import ChunkStore
from helix.telemetry.logs import configure_logging
from pipelines.program import one_line_errors, run
from pipelines.reembedding import change


def reembed(
    to: Annotated[
        str | None,
        typer.Option(metavar="KIND[:MODEL]", help="In place of HELIX_EMBEDDER_NEXT."),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Chunks a request; as many as it may carry if none.")
    ] = None,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Drop what an unfinished change has embedded.")
    ] = False,
) -> None:
    """Embed every stored chunk anew with HELIX_EMBEDDER_NEXT, then go over to it.

    Questions are answered throughout by servers that are configured with both embedders. Stopped
    at any point, the same command goes on there.
    """
    with one_line_errors("reembed", "what is done stays, run it again to go on"):
        settings = load_settings(**({"HELIX_EMBEDDER_NEXT": to} if to else {}))
        configure_logging("warning")
        try:
            asyncio.run(_abandon(settings) if abandon else _change(settings, batch))
        except Unavailable as error:
            raise HelixError(f"stopped: {error} (what is done stays; run it again)") from error


async def _change(settings: Settings, batch: int | None) -> None:
    embedder = build_next_embedder(settings)
    if embedder is None:
        raise SettingsError("no new embedder is named: set HELIX_EMBEDDER_NEXT, or give --to")
    async with aclosing(embedder), open_url(settings) as url:
        store = ChunkStore(url, embedder.identity)
        await learn_space(store, embedder)
        # what is embedded in this process costs less than asking the cache
        cached = None if embedder.local else with_cache(embedder, store, settings.embed_cache_mb)
        try:
            await change.change_embedder(
                url,
                cached or embedder,
                batch=min(batch or embedder.max_batch, embedder.max_batch),
                parallel=settings.embed_parallel,
                report=_tell,
            )
        finally:
            await store.close()


async def _abandon(settings: Settings) -> None:
    async with open_url(settings) as url:
        await change.abandon(url, _tell)


def _tell(line: str) -> None:
    typer.echo(line, err=True)


if __name__ == "__main__":
    run(reembed)
