"""Follow-ups and turn types: ``python -m evals.conversations`` asks conversations of ``samples/``.

It ends with 1 where a turn is not as it must be. With ``--data DIR`` it prints Markdown instead:
every turn of MTRAG and MTRAG-UN whose judgements are complete is asked of the pooled passages as
it stands, as Helix understands it, with its whole history, and as a person rewrote it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from evals.conversations.report import tables
from evals.conversations.searches import Found, search_turns, store_pool
from evals.conversations.served_turns import Served, serve_turns
from evals.conversations.suite import bring_in_samples, outcomes, report
from evals.database import settings_of_run, temporary_databases
from evals.datasets.mtrag import ConversationTurn, load_mtrag
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from helix.store import ChunkStore


async def asked(
    url: str, data: Path
) -> tuple[list[ConversationTurn], list[dict[str, Found]], list[Served]]:
    """The turns below ``data``, what was found for each, and what is served to those of a kind."""
    passages, turns = load_mtrag(data)
    settings = load_settings(database_url=url, llm="offline", embedder="offline")
    embedder = build_embedder(settings)
    store = ChunkStore(url, embedder.identity)
    try:
        await store_pool(store, passages)
        found = await search_turns(store, embedder, turns)
    finally:
        await store.close()
    return turns, found, await serve_turns(settings, [turn for turn in turns if turn.kind])


def ask_samples() -> int:
    """Print how the conversations over ``samples/`` went; 1 where a turn did not go well."""
    with settings_of_run() as settings:
        bring_in_samples(settings)
        found = asyncio.run(outcomes(settings))
    print("\n".join(report(found)))
    return int(any(one.faults and not one.known for one in found))


def main() -> int:
    """Ask everything, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    arguments = parser.parse_args()
    if arguments.data is None:
        return ask_samples()
    with temporary_databases() as created:
        told = asyncio.run(asked(created("mtrag"), arguments.data))
    for line in tables(*told):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
