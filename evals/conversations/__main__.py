"""Follow-ups and turn types: ``python -m evals.conversations --data DIR`` prints Markdown.

Every turn of MTRAG and MTRAG-UN whose judgements are complete is asked of the pooled passages as
it stands, as Helix understands it, with its whole history, and as a person rewrote it.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from evals.conversations.report import tables
from evals.conversations.searches import Found, search_turns, store_pool
from evals.database import temporary_databases
from evals.datasets.mtrag import ConversationTurn, load_mtrag
from helix.providers import build_embedder
from helix.settings import load_settings
from helix.store import ChunkStore


async def asked(url: str, data: Path) -> tuple[list[ConversationTurn], list[dict[str, Found]]]:
    """The turns below ``data`` with what was found for each, in the database at ``url``."""
    passages, turns = load_mtrag(data)
    settings = load_settings(database_url=url, llm="offline", embedder="offline")
    embedder = build_embedder(settings)
    store = ChunkStore(url, embedder.identity)
    try:
        await store_pool(store, passages)
        return turns, await search_turns(store, embedder, turns)
    finally:
        await store.close()


def main() -> None:
    """Ask everything, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    arguments = parser.parse_args()
    with temporary_databases() as created:
        turns, found = asyncio.run(asked(created("mtrag"), arguments.data))
    for line in tables(turns, found):
        print(line)


if __name__ == "__main__":
    main()
