"""The agent's reads of documents: what it is told of them, and that its scope's conditions hold."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from helix.agent.tool import ToolContext, ToolFailure
from helix.agent.tools.documents import find_document
from helix.agent.tools.outline import ListArguments, list_documents
from helix.domain.conditions import written_conditions
from helix.domain.scope import Scope
from helix.store import ChunkStore
from tests.support.agent_tools import context
from tests.support.fake_embedder import opened, record, write


def _within(store: ChunkStore, *conditions: str) -> ToolContext:
    scope = Scope(metadata=written_conditions(conditions))
    return replace(context(), scope=scope, retriever=cast(Any, SimpleNamespace(store=store)))


async def test_conditions_on_metadata_bound_what_is_listed_and_read(database_url: str) -> None:
    async with opened(database_url) as store:
        kept = write(store, record("a.txt", "water", "Kept"))
        left = write(store, record("b.txt", "water", "Left out"))
        with psycopg.connect(database_url) as connection:
            connection.execute(
                "UPDATE documents SET metadata = CASE id WHEN %s THEN"
                """ '{"year": 2024, "owner": ["Lee", "Kim"]}'::jsonb ELSE '{"year": 2020}' END""",
                (kept,),
            )
        own = _within(store, "year>=2024")
        told = await list_documents(ListArguments(having=""), own)
        assert told.parts == (
            f"1 document:\n- document {kept}: Kept (year: 2024 | owner: Lee, Kim)",
        )
        assert (await find_document(own, kept))["title"] == "Kept"
        with pytest.raises(ToolFailure):
            await find_document(own, left)
        by_word = await list_documents(ListArguments(having="kim"), _within(store))
        assert "Kept" in str(by_word.parts) and "Left" not in str(by_word.parts)
